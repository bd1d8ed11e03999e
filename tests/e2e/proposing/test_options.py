"""Experiments that change no code: variables and arguments that a file in scope holds."""

import venv
from pathlib import Path

import pytest

from tests.e2e.foreign import Foreign

READS_OPTIONS = """import os, sys

FAST = os.environ.get("SUM_FAST") == "1" or "--fast" in sys.argv or "faster-python" in sys.executable
TURNS = 1 if FAST else 4


def total(values):
    result = 0
    for _ in range(TURNS):
        result = 0
        for value in values:
            result = result + value * value
    return result
"""
OPTIONS = """options:
  file: src/options.yaml
  variables: ["SUM_*"]
  arguments: true
"""


@pytest.fixture
def repository(tmp_path: Path) -> Foreign:
    made = Foreign.of("foreign_repository", tmp_path)
    made.write("src/total.py", READS_OPTIONS)
    made.edit_protocol('bench/benchmark.py, "{artifact}"]', 'bench/benchmark.py, "{artifact}", "{arguments}"]')
    made.write("protocol.yaml", (made.root / "protocol.yaml").read_text() + OPTIONS)
    made.commit("options")
    return made


def new(repository: Foreign, *words: str) -> None:
    repository.concluded("new", *words, "--hypothesis", "the fast way is faster")


def test_a_variable_that_pays_becomes_part_of_the_baseline(repository: Foreign) -> None:
    new(repository, "--env", "SUM_FAST=1")
    ran = repository.concluded("run", "P1")
    assert "KEEP" in ran.out
    record = repository.record("P1")
    assert (record["title"], record["kind"]) == ("Set SUM_FAST=1", "config")
    assert record["notes"] == ["options alone: no code changed, only src/options.yaml"]
    assert repository.git("show", "HEAD:src/options.yaml") == 'environment:\n  SUM_FAST: "1"'
    assert repository.concluded("replay", "P1").out.startswith("P1       same ")
    new(repository, "--env", "SUM_FAST")  # back again: the baseline is fast now, so this loses
    assert "REJECT" in repository.concluded("run", "P2").out
    assert repository.git("show", "HEAD:src/options.yaml") == 'environment:\n  SUM_FAST: "1"'


def test_arguments_reach_the_benchmark_of_their_side_alone(repository: Foreign) -> None:
    new(repository, "--argument=--fast")
    assert "KEEP" in repository.concluded("run", "P1").out
    assert repository.git("show", "HEAD:src/options.yaml") == 'arguments: ["--fast"]'


def test_an_interpreter_with_other_packages_is_an_experiment_too(repository: Foreign) -> None:
    venv.create(repository.home / "faster-python")
    repository.write(
        "protocol.yaml",
        (repository.root / "protocol.yaml").read_text()
        + "  interpreters: {other: %s}\n" % (repository.home / "faster-python/bin/python"),
    )
    repository.commit("an interpreter")
    new(repository, "--interpreter", "other")
    assert "KEEP" in repository.concluded("run", "P1").out
    assert repository.git("show", "HEAD:src/options.yaml") == 'interpreter: "other"'
    (repository.home / "faster-python/bin/python").unlink()
    new(repository, "--env", "SUM_OTHER=1")
    answer = repository.expctl("run", "P2")
    assert (answer.status, "[interpreter-missing]" in answer.err, "options.interpreters.other" in answer.err) == (1, True, True)
    assert not (repository.root / "experiments/P2/record.json").exists()


def test_what_the_rejected_one_set_is_a_repeat_however_it_is_written(repository: Foreign) -> None:
    repository.write("src/options.yaml", 'environment:\n  SUM_FAST: "1"\n')
    repository.commit("fast")
    new(repository, "--env", "SUM_FAST")
    assert "REJECT" in repository.concluded("run", "P1").out
    repository.write("src/options.yaml", "# nothing is set\nenvironment: {}\n")
    repository.concluded("new", "--from-diff", "--title", "no options", "--hypothesis", "none are needed")
    ran = repository.expctl("run", "P2")
    assert "P1" in ran.out + ran.err
    assert repository.record("P2")["verdict"] != "KEEP" if ran.status == 0 else "do-not-repeat" in ran.err


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--env", "LD_PRELOAD=x"), "option-not-allowed"),
        (("--env", "OTHER=1"), "option-not-allowed"),
        (("--env", "SUM_FAST"), "options-unchanged"),
        (("--argument", ""), "options-unchanged"),
        (("--interpreter", "newer"), "option-not-allowed"),
        (("--env", "SUM_FAST=1", "--from-diff"), "no-change-named"),
    ],
)
def test_options_that_are_not_allowed_are_refused_before_anything_is_queued(
    repository: Foreign, words: tuple[str, ...], code: str
) -> None:
    repository.concluded("ledger")
    repository.commit("ledger")
    before = repository.snapshot()
    answer = repository.expctl("new", *words, "--hypothesis", "why")
    assert answer.status == (1 if code == "options-unchanged" else 2)
    assert f"[{code}]" in answer.err
    assert repository.snapshot() == before


def test_without_a_rule_no_experiment_sets_options(tmp_path: Path) -> None:
    repository = Foreign.of("foreign_repository", tmp_path)
    answer = repository.expctl("new", "--env", "SUM_FAST=1", "--hypothesis", "why")
    assert (answer.status, "[no-options]" in answer.err) == (2, True)


def test_a_file_that_names_what_is_not_allowed_does_not_build(repository: Foreign) -> None:
    repository.write("src/options.yaml", "environment: {LD_PRELOAD: /tmp/own.so}\n")
    repository.concluded("new", "--from-diff", "--title", "own loader", "--hypothesis", "why")
    assert "REJECT" in repository.concluded("run", "P1").out
    assert "expected one of SUM_*, found 'LD_PRELOAD'" in repository.record("P1")["reasons"][0]
