"""What commits works beside what measures; what is kept goes beside the user's edits and comes home by one command."""

import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e import cheat_parameters as knobs
from tests.e2e.foreign import Answer, Foreign, wait_until
from tests.refusals import printed_code

DOCUMENT = "# Ledger on here\n\n| id | change | verdict |\n|---|---|---|\n| T1 | unrolled | rejected, 3 % slower |\n"


@contextmanager
def measuring(repository: Foreign, *words: str, go: Path | None = None) -> Iterator[Path]:
    """`words` at its benchmark, which waits for the file `benchmark` in the folder `go`. It has to end well."""
    go = go or repository.hold("benchmark")
    runner = repository.start(*words)
    try:
        wait_until(lambda: repository.step() == "measure" and repository.survivors(), "the benchmark")
        yield go
        (go / "benchmark").touch()
        assert runner.wait(240) == 0, repository.said()
    finally:
        runner.kill()
        runner.wait()


def busy_with_the_account(repository: Foreign) -> None:
    """Every command that only commits, and one that must not."""
    repository.write("src/total.py", knobs.kernel({"FIFTH": 9000}))
    repository.concluded("new", "P8", "--from-diff")
    repository.concluded("new", "P9", "--patch", "experiments/P8/change.patch")
    repository.concluded("queue", "P9", "--priority", "4")
    repository.concluded("withdraw", "P9", "--why", "P8 is the same")
    evidence = ("--kind", "external", "--evidence", "https://example.org")
    repository.concluded("finding", "add", "Sums have no shortcut", *evidence)
    repository.concluded("rules")
    repository.write("theirs.md", DOCUMENT)
    repository.concluded("import", "theirs.md", "--target", "here")
    (repository.root / "theirs.md").unlink()
    second = repository.expctl("run", "P8")
    assert (second.status, printed_code(second.err)) == (75, "repository-in-use")


def test_all_that_only_commits_works_beside_a_run(repository: Foreign) -> None:
    knobs.begin(repository)
    knobs.turn(repository, "P1", {"FIRST": 0})
    with measuring(repository, "run", "P1"):
        busy_with_the_account(repository)
        refused = repository.expctl("withdraw", "P1", "--why", "too late")
        assert (refused.status, printed_code(refused.err)) == (75, "experiment-being-measured")
        mine = repository.head()
    record = repository.record("P1")
    assert (record["verdict"], record["base"]) == ("KEEP", mine)
    assert repository.git("rev-parse", "HEAD~2", "HEAD~1") == f"{mine}\n{record['candidate']}"
    assert repository.changed_by(record["candidate"]) == ["src/total.py"]
    assert knobs.verdicts(repository) == {"P1": "KEEP", "P8": "ready", "P9": "withdrawn"}
    repository.check_nothing_is_left()


@pytest.mark.parametrize("words", [("calibrate", "--rounds", "10"), pytest.param(("audit",), marks=pytest.mark.long)])
def test_all_that_only_commits_works_beside_calibrate_and_audit(repository: Foreign, words: tuple[str, ...]) -> None:
    knobs.begin(repository)
    go = repository.hold("benchmark")
    if words == ("audit",):
        knobs.turn(repository, "P1", {"FIRST": 0})
        (go / "benchmark").touch()
        repository.concluded("run", "P1")
        (go / "benchmark").unlink()
    with measuring(repository, *words, go=go):
        busy_with_the_account(repository)
    repository.check_nothing_is_left()


def test_four_who_commit_at_once_take_turns(repository: Foreign) -> None:
    knobs.begin(repository)
    repository.write("src/total.py", knobs.kernel({"FIFTH": 9000}))
    repository.git("diff", f"--output={repository.home / 'patch'}")
    names = [f"P{number}" for number in range(1, 5)]
    at_once = [repository.start("new", name, "--patch", str(repository.home / "patch")) for name in names]
    assert [each.wait(240) for each in at_once] == [0] * 4, repository.said()
    subjects = repository.git("log", "--format=%s", "-4").splitlines()
    assert sorted(subject.split(":")[0] for subject in subjects) == [f"Propose {name}" for name in names]
    assert repository.git("status", "--porcelain") == "M src/total.py"
    assert repository.expctl("ledger", "--check").status == 0


def test_a_run_all_picks_up_what_is_queued_meanwhile(repository: Foreign) -> None:
    knobs.begin(repository)
    knobs.turn(repository, "P1", {"FIRST": 9000})
    with measuring(repository, "run", "--all"):
        knobs.turn(repository, "P2", {"SECOND": 1}, wrong=" + 1")
    assert knobs.verdicts(repository) == {"P1": "REJECT", "P2": "REJECT"}


def brought_home(repository: Foreign, said: str) -> None:
    """Type what the end says."""
    (command,) = re.findall("^bring it home: git (.*)$", said, re.MULTILINE)
    repository.git(*command.split())


def test_an_edit_in_the_way_sends_what_is_kept_beside_and_stays(repository: Foreign) -> None:
    knobs.begin(repository)
    knobs.turn(repository, "P1", {"FIFTH": 9000})
    knobs.turn(repository, "P2", {"FIRST": 0})
    idea = knobs.kernel() + "# my idea\r\n"
    with measuring(repository, "run", "--all"):
        repository.write("src/total.py", idea)
        repository.git("add", "src/total.py")
        repository.write("src/more.py", "# untracked\n")
        index = repository.git("ls-files", "-s", "src")
    said = repository.said()
    assert "goes on on the branch expctl/main" in said
    assert ((repository.root / "src/total.py").read_bytes(), repository.git("ls-files", "-s", "src")) == (idea.encode(), index)
    assert repository.git("status", "--porcelain") == "M  src/total.py\n?? src/more.py"
    assert repository.git("diff", "--name-only", "HEAD", "expctl/main", "--", "src") == "src/total.py"
    assert "experiments/P1/record.json" in repository.git("ls-files"), "a REJECT is in nobody's way"

    assert "expctl/main" in repository.concluded("status").out
    again = repository.expctl("run", "P2")
    assert (again.status, printed_code(again.err)) == (1, "concluded-beside")

    repository.concluded("new", "P3", "--from-diff")
    taken = repository.expctl("new", "P2", "--patch", "experiments/P3/change.patch")
    assert printed_code(taken.err) == "experiment-exists"
    ended = repository.concluded("run", "--all", "--max-experiments", "1")
    assert "main lacks what an earlier campaign has found there" in ended.out
    brought_home(repository, ended.out)
    assert repository.git("status", "--porcelain") == ""
    verdicts = knobs.verdicts(repository)
    assert (verdicts["P1"], verdicts["P2"], repository.record("P2")["verdict"]) == ("REJECT", "KEEP", "KEEP")
    repository.check_nothing_is_left()


def test_a_branch_of_its_own_leaves_branch_index_and_files_alone(repository: Foreign) -> None:
    knobs.begin(repository)
    knobs.turn(repository, "P1", {"FIRST": 0})
    knobs.turn(repository, "P2", {"SECOND": 1}, wrong=" + 1")
    repository.write("src/total.py", "half an idea\n")
    before = repository.snapshot()
    ended = repository.concluded("run", "--all", "--branch", "night")
    after = repository.snapshot()
    assert (after.head, after.status, after.index, after.files) == (before.head, before.status, before.index, before.files)
    repository.git("checkout", "-q", "--", "src")
    brought_home(repository, ended.out)
    assert knobs.verdicts(repository) == {"P1": "KEEP", "P2": "REJECT"}
    for words, code in ((("--branch", "main"), "campaign-branch-checked-out"), (("--branch", "a..b"), "branch-cannot-start")):
        refused = repository.expctl("run", "--all", *words)
        assert (refused.status, printed_code(refused.err)) == (1, code)
    misused = repository.expctl("run", "P1", "--branch", "night")
    assert (misused.status, printed_code(misused.err)) == (2, "budget-without-all")


def test_ctrl_c_beside_and_the_next_one_goes_on_there(repository: Foreign) -> None:
    knobs.begin(repository)
    knobs.turn(repository, "P1", {"FIRST": 0})
    go = repository.hold("benchmark")
    runner = repository.start("run", "--all", "--branch", "night")
    wait_until(lambda: repository.step() == "measure" and repository.survivors(), "the benchmark")
    (go / "benchmark").touch()
    wait_until(lambda: "Measured" in repository.journal("P1"), "a round")
    runner.send_signal(signal.SIGINT)
    assert runner.wait(240) == 130, repository.said()
    repository.concluded("run", "--all", "--branch", "night")
    subjects = repository.git("log", "--format=%s", "night").splitlines()
    assert [subject.split(":")[0] for subject in subjects[:2]] == ["P1 KEEP on here", "P1"]


@pytest.mark.long
def test_killed_beside_at_the_moments_of_its_publications(repository: Foreign) -> None:
    """The record on the branch beside, and the merge of what was queued meanwhile."""
    knobs.begin(repository)
    knobs.turn(repository, "P1", {"FIRST": 0})
    knobs.turn(repository, "P2", {"SECOND": 1}, wrong=" + 1")
    idea = knobs.kernel() + "# my idea\n"
    repository.write("src/total.py", idea)
    for delay_s in (0.0, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.15, 0.2, 0.3):
        runner = repository.start("run", "--all")
        while "Publishing" not in repository.journal("P1") and runner.poll() is None:
            time.sleep(0.002)
        time.sleep(delay_s)
        runner.kill()
        runner.wait()
        number = f"P{3 + int(1000 * delay_s)}"
        repository.concluded("new", number, "--patch", "experiments/P2/change.patch")
        repository.concluded("withdraw", number, "--why", "P2 is the same")
        assert (repository.root / "src/total.py").read_text() == idea
    ended = repository.concluded("run", "--all")
    brought_home(repository, ended.out)
    verdicts = knobs.verdicts(repository)
    assert (verdicts.pop("P1"), verdicts.pop("P2"), set(verdicts.values())) == ("KEEP", "REJECT", {"withdrawn"})
    subjects = repository.git("log", "--format=%s").splitlines()
    assert [sum(each.startswith(f"P{number} ") for each in subjects) for number in (1, 2)] == [1, 1]
    repository.check_nothing_is_left()


def conflicting(repository: Foreign) -> Answer:
    """Apply a proposal whose lines were changed meanwhile."""
    knobs.begin(repository)
    knobs.turn(repository, "P1", {"FIRST": 0, "THIRD": 5})
    repository.write("src/total.py", knobs.kernel({"FIRST": 7}))
    repository.commit("by hand")
    return repository.expctl("show", "P1", "--apply")


def test_a_blocked_change_is_merged_with_markers_and_proposed_again(repository: Foreign) -> None:
    applied = conflicting(repository)
    assert (applied.status, applied.err) == (1, "")
    assert "conflicts: src/total.py" in applied.out
    text = (repository.root / "src/total.py").read_text()
    assert "<<<<<<< HEAD\nFIRST = 7\n=======\nFIRST = 0\n>>>>>>> P1\n" in text
    assert "THIRD = 5\n" in text, "what nobody else changed is merged"
    assert repository.git("status", "--porcelain") == "M src/total.py", "nothing is staged or unmerged"

    repository.write("src/total.py", re.sub("<<<<<<< HEAD\n.*\n=======\n(.*\n)>>>>>>> P1\n", r"\1", text))
    repository.concluded("new", "P2", "--from-diff")
    blocked = repository.expctl("run", "P1")
    assert "expctl show P1 --apply" in blocked.err
    repository.concluded("show", "P2", "--apply")
    assert (repository.root / "src/total.py").read_text() == knobs.kernel({"FIRST": 0, "THIRD": 5})
