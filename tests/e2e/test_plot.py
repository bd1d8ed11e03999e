"""`expctl show ID --plot`: of a record, of a run under way, and where there is nothing to draw."""

import os
import re
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.e2e.foreign import EXPCTL, SLOWER, WRONG, Foreign, wait_until
from tests.refusals import printed_code


@pytest.fixture(scope="module")
def once_rejected(tmp_path_factory: pytest.TempPathFactory) -> Foreign:
    repository = Foreign.of("foreign_repository", tmp_path_factory.mktemp("rejected"))
    repository.queue("P1", SLOWER)
    repository.concluded("run", "P1")
    return repository


@pytest.fixture
def rejected(once_rejected: Foreign, tmp_path: Path) -> Foreign:
    """A repository with the record of a REJECT."""
    return once_rejected.copy(tmp_path / "copy")


def test_a_record_is_drawn_in_the_terminal(rejected: Foreign) -> None:
    before = rejected.snapshot()
    ways = (("show", "P1", "--plot"), ("show", "--plot", "P1"), ("show", "P1", "--plot", "-"))
    charts = {rejected.concluded(*words).out for words in ways}
    (chart,) = charts
    assert chart.startswith("P1  another way   target here\n")
    assert re.search(r"\n  REJECT     (n=\d+ regresses:|objective) -", chart)
    assert rejected.snapshot() == before


@pytest.mark.skipif(find_spec("matplotlib") is None, reason="needs matplotlib: pip install -e '.[plot]'")
def test_a_record_is_drawn_in_files(rejected: Foreign) -> None:
    before = rejected.snapshot()
    for name, start in (("out.png", b"\x89PNG"), ("out.svg", b"<?xml"), ("OUT.PNG", b"\x89PNG")):
        file = rejected.home / name
        assert rejected.concluded("show", "P1", "--plot", str(file)).out == f"drawn in {file}\n"
        assert file.read_bytes().startswith(start)
    assert rejected.snapshot() == before


@pytest.mark.skipif(find_spec("matplotlib") is None, reason="needs matplotlib: pip install -e '.[plot]'")
def test_all_experiments_are_drawn_in_one_picture(rejected: Foreign) -> None:
    before, file = rejected.snapshot(), rejected.home / "all.svg"
    assert rejected.concluded("ledger", "--plot", str(file)).out == f"drawn in {file}\n"
    text = file.read_text("utf-8")
    assert "P1  another way" in text
    assert ">REJECT<" in text
    assert rejected.snapshot() == before


def test_without_experiments_or_with_another_suffix_nothing_is_drawn(repository: Foreign) -> None:
    for file, code, status in (("all.svg", "no-experiment-to-draw", 1), ("all.txt", "not-a-picture-file", 2)):
        refused = repository.expctl("ledger", "--plot", file)
        assert (refused.status, printed_code(refused.err)) == (status, code)


def test_a_run_under_way_is_drawn_from_its_journal_which_stays_as_it_is(repository: Foreign) -> None:
    repository.queue("P1", SLOWER)
    process = repository.start("run", "P1")
    wait_until(lambda: "Measured" in repository.journal("P1"), "the first round")
    os.kill(process.pid, signal.SIGINT)
    process.wait(240)
    journal = repository.root / ".git/expctl/journal/P1.jsonl"
    with open(journal, "ab") as file:
        file.write(b'{"seq": 99, "torn')
    torn = journal.read_bytes()
    answer = repository.concluded("show", "P1", "--plot")
    rounds = repository.journal("P1").count("Measured")
    assert f"{rounds} rounds\n" in answer.out
    assert f"  measuring  {3 - rounds} rounds of the search to go\n" in answer.out
    assert journal.read_bytes() == torn


def test_what_cannot_be_drawn_is_refused_with_the_next_command(repository: Foreign) -> None:
    repository.queue("P1", WRONG)
    repository.queue("P2", SLOWER)
    repository.concluded("run", "P1")
    for words, status, code in (
        (("P1", "--plot"), 1, "no-rounds-to-draw"),
        (("P2", "--plot"), 1, "no-rounds-to-draw"),
        (("P3", "--plot"), 1, "experiment-unknown"),
        (("P1", "--plot", "out.pdf"), 2, "not-a-picture-file"),
        (("P1", "--plot", "--json"), 2, "plot-not-alone"),
    ):
        answer = repository.expctl("show", *words)
        assert (answer.status, printed_code(answer.err)) == (status, code), answer
        assert "\n  next      " in answer.err


@pytest.mark.skipif(find_spec("matplotlib") is None, reason="needs matplotlib: pip install -e '.[plot]'")
def test_a_file_that_cannot_be_written_is_refused(rejected: Foreign) -> None:
    (rejected.home / "folder.png").mkdir()
    answer = rejected.expctl("show", "P1", "--plot", str(rejected.home / "folder.png"))
    assert (answer.status, answer.err.splitlines()[0]) == (
        1,
        f"Error [file-not-writable]: cannot write {rejected.home / 'folder.png'}",
    )
    assert sorted(each.name for each in rejected.home.iterdir() if "new" in each.name) == []


def test_without_matplotlib_the_command_to_type_is_said(rejected: Foreign, tmp_path: Path) -> None:
    blocked = tmp_path / "blocked" / "matplotlib"
    blocked.mkdir(parents=True)
    (blocked / "__init__.py").write_text("raise ModuleNotFoundError('No module named matplotlib', name='matplotlib')\n")
    environment = {**rejected.environment, "PYTHONPATH": str(blocked.parent)}
    words: list[str | Path] = [sys.executable, EXPCTL, "show", "P1", "--plot"]
    refused = subprocess.run([*words, "out.png"], cwd=rejected.root, env=environment, capture_output=True, text=True)
    assert refused.returncode == 1
    assert "found     no module matplotlib" in refused.stderr
    assert "pip install 'expctl[plot]'" in refused.stderr
    assert not (rejected.root / "out.png").exists()
    chart = subprocess.run([*words, "-"], cwd=rejected.root, env=environment, capture_output=True, text=True)
    assert (chart.returncode, chart.stdout.startswith("P1  ")) == (0, True)


def test_the_terminal_needs_nothing_heavy(rejected: Foreign) -> None:
    argv = [sys.executable, "-X", "importtime", str(EXPCTL), "show", "P1", "--plot"]
    answer = subprocess.run(argv, cwd=rejected.root, env=rejected.environment, check=True, capture_output=True, text=True)
    loaded = {line.rsplit("|", 1)[1].strip().split(".")[0] for line in answer.stderr.splitlines() if line.count("|") == 2}
    assert "expctl" in loaded
    assert loaded & {"matplotlib", "numpy", "git", "torch", "jinja2"} == set()
