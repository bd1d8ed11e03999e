"""Every command that commits can be typed again, after a kill or by mistake: it completes what is left, and exits 0."""

import subprocess

import pytest

from tests.e2e.foreign import EXPCTL, FASTER, SLOWER, Foreign
from tests.faults.outside_commands import COMMANDS
from tests.faults.outside_kills import played
from tests.faults.outside_stage import Stage
from tests.refusals import printed_code

WORDS = ("--title", "the builtin", "--hypothesis", "less to interpret")


@pytest.mark.parametrize("words", [("new", "P1", "--from-diff"), ("new", "--from-diff")], ids=["with an id", "without"])
def test_a_change_that_was_captured_is_not_queued_twice(repository: Foreign, words: tuple[str, ...]) -> None:
    repository.write("src/total.py", FASTER)
    first = repository.concluded(*words, *WORDS)
    head = repository.head()
    again = repository.concluded(*words, *WORDS)  # its changes are in the proposal by now
    assert first.out.splitlines()[0] == again.out.splitlines()[0]
    repository.write("src/total.py", FASTER)  # as a kill leaves them that came before they were set back
    assert "restored   src/total.py" in repository.concluded(*words, *WORDS).out
    assert repository.head() == head
    assert repository.git("status", "--porcelain") == ""


def test_other_words_or_another_patch_are_another_proposal(repository: Foreign) -> None:
    for number, (kernel, title) in enumerate([(FASTER, "one"), (FASTER, "two"), (SLOWER, "two")], start=1):
        repository.write("src/total.py", kernel)
        made = repository.concluded("new", "--from-diff", "--title", title, "--hypothesis", "h", "--json").json()
        assert made["id"] == f"P{number}"
    refused = repository.expctl("new", "P1", "--from-diff", "--title", "three", "--hypothesis", "h")
    assert "experiment-exists" in refused.err


def test_what_was_withdrawn_or_measured_since_is_proposed_anew(repository: Foreign) -> None:
    for number in (1, 2):
        repository.write("src/total.py", FASTER)
        assert repository.concluded("new", "--from-diff", *WORDS, "--json").json()["id"] == f"P{number}"
        repository.concluded("withdraw", f"P{number}", "--why", "no")
    head = repository.head()
    repository.concluded("withdraw", "P2", "--why", "no")
    assert repository.head() == head
    assert "not-in-queue" in repository.expctl("withdraw", "P2", "--why", "another reason").err


def test_killed_at_random_from_outside(long: bool) -> None:
    assert [line for outcome in played(500 if long else 6, seed=7) for line in outcome.lines()] == []


@pytest.mark.parametrize("name", ["new ID", "queue", "withdraw", "finding add", "import", "ledger"])
def test_an_act_whose_output_can_not_be_written_is_said_to_be_done(repository: Foreign, name: str) -> None:
    stage, command = Stage(repository.root.parent / "played" / "stage").made(), COMMANDS[name]
    command.before(stage)
    with open("/dev/full", "w") as full:
        asked = [str(EXPCTL), *command.words]
        ended = subprocess.run(asked, cwd=stage.root, env=stage.environment, stdout=full, stderr=subprocess.PIPE, text=True)
    assert printed_code(ended.stderr) == "output-not-writable"
    assert ", but standard output can't be written" in ended.stderr
    assert command.done(stage)
