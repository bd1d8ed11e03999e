"""The short form of the fault suite: every class a little, and proof that the checker sees each invariant break.

`make faults` is the long form, with a planted defect for each class; docs/FAULTS.md has the table.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from expctl.adapters.git.reader import locate
from expctl.wiring import mark_of
from tests.faults.fault_classes import CLASSES
from tests.faults.fault_lab import Attempt, Lab
from tests.faults.invariants import UserState
from tests.faults.power_cut import Change, Loss, cut, read_log
from tests.faults.shim import Plan
from tests.faults.trial import FaultClass, Story, Trial

SEED = 11
STAGE, EXPERIMENT, VERDICT = "first slower late-reject", "P2", "REJECT"


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    """One for all: its stages are dear."""
    with Lab(quick=True) as made:
        yield made


@pytest.mark.parametrize("faults", CLASSES, ids=lambda faults: faults.name.replace(" ", "-").replace(",", ""))
def test_nothing_is_lost(lab: Lab, faults: FaultClass) -> None:
    draw = Random(f"{SEED} {faults.name}")
    story = faults.play(Trial(lab, draw, draw.randrange(40), 40))
    assert story.violations() == (), [(each.words, each.status, each.said[-400:]) for each in story.scene.attempts]


# ------------------------------------------------------------------ the checker


@pytest.fixture(scope="module")
def concluded(lab: Lab) -> Story:
    """A REJECT that nothing disturbed, kept as a stage."""
    story = Trial(lab, Random(SEED), 0, 1).begin(STAGE, EXPERIMENT, VERDICT)
    assert story.run().status == 0
    assert story.violations() == ()
    lab.keep("concluded")
    return story


@pytest.fixture
def story(lab: Lab, concluded: Story) -> Story:
    """A copy of it, to spoil."""
    scene = lab.scene("concluded")
    scene.attempts += concluded.scene.attempts
    return Story(scene, concluded.expected)


def amend(story: Story, path: str, change: Callable[[bytes], bytes]) -> None:
    """Another last commit, as if expctl had made it so."""
    file = story.scene.root / path
    file.write_bytes(change(file.read_bytes()))
    story.scene.git("commit", "-q", "--amend", "--no-edit", "--", path)


def record(change: Callable[[dict[str, Any]], object]) -> Callable[[Story], None]:
    def apply(text: bytes) -> bytes:
        facts = json.loads(text)
        change(facts)
        return json.dumps(facts, indent=1).encode() + b"\n"

    return lambda story: amend(story, "experiments/P2/record.json", apply)


def commit_again(trailer: str) -> Callable[[Story], object]:
    return lambda story: story.scene.git("commit", "-q", "--allow-empty", "-m", f"again\n\n{trailer}: P2")


def ended(**changes: Any) -> Callable[[Story], None]:
    """Something else about the last command."""

    def change(story: Story) -> None:
        story.scene.attempts[-1] = replace(story.scene.attempts[-1], **changes)

    return change


def hurt_then_resumed(times: int, wall_s: float) -> Callable[[Story], None]:
    def change(story: Story) -> None:
        last = story.scene.attempts.pop()
        hurt = Attempt(words=last.words, status=-signal.SIGKILL, said="", wall_s=1.0, fired=True)
        again = replace(last, wall_s=wall_s, status=130, said="Interrupted")
        story.scene.attempts += [hurt, *[again] * (times - 1), replace(last, wall_s=wall_s)]

    return change


def leave_a_process(story: Story) -> None:
    environment = {**os.environ, "EXPCTL_RUN": mark_of(locate(story.scene.root))}
    left = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(30)"], env=environment)
    story.scene.lab.on_clear += [left.wait, left.kill]


def leave(path: str, text: str = "") -> Callable[[Story], None]:
    def write(story: Story) -> None:
        file = story.scene.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    return write


def damage_an_object(story: Story) -> None:
    name = story.scene.git("rev-parse", "HEAD~2^{tree}").strip()
    (story.scene.root / ".git" / "objects" / name[:2] / name[2:]).unlink()


def drop_an_older_record(story: Story) -> None:
    story.scene.git("rm", "-q", "-r", "experiments/P0")
    story.scene.git("commit", "-q", "--amend", "--no-edit", "--", "experiments/P0")


def keep(story: Story) -> None:
    """The record calls it a KEEP."""
    record(lambda facts: facts.update(verdict="KEEP"))(story)


def keep_another(story: Story) -> None:
    record(lambda facts: facts.update(verdict="KEEP", test={"ok": True, "cases": 1, "summary": "worst kernel 45"}))(story)


def keep_untested(story: Story) -> None:
    record(lambda facts: facts.update(verdict="KEEP", test={"ok": False, "cases": 0, "summary": "no"}))(story)


BROKEN: dict[str, tuple[str, Callable[[Story], object]]] = {
    "the record is gone": ("1", lambda story: story.scene.git("reset", "-q", "--soft", "HEAD~1")),
    "an older record is gone": ("1", drop_an_older_record),
    "a second record commit": ("2", commit_again("Expctl-Record")),
    "a kernel commit of a REJECT": ("2", commit_again("Expctl-Id")),
    "another history": ("2", lambda story: story.scene.git("update-ref", "refs/heads/main", "HEAD~3")),
    "a file of the user": ("3", leave("notes/changed", "overwritten\n")),
    "the user's index": ("3", lambda story: story.scene.git("add", "untracked")),
    "the stash": ("3", lambda story: story.scene.git("stash", "drop", "-q")),
    "an object": ("3", damage_an_object),
    "files that lag behind": ("3", leave("ledger.md", "old\n")),
    "the ledger": ("4", lambda story: amend(story, "ledger.md", lambda text: text + b"more\n")),
    "a process": ("5", leave_a_process),
    "a lock of git": ("5", leave(".git/index.lock")),
    "a worktree": ("5", leave(".git/worktrees/expctl-b/gitdir")),
    "a journal": ("5", leave(".git/expctl/journal/P2.jsonl")),
    "the holder's name": ("5", leave(".git/expctl/lock", "{}")),
    "another verdict": ("6", keep),
    "a round twice": ("6", lambda story: amend(story, "experiments/P2/samples.jsonl", lambda text: text + text)),
    "other samples": (
        "6",
        lambda story: amend(story, "experiments/P2/samples.jsonl", lambda text: text.replace(b"[60", b"[50")),
    ),
    "a slow resume": ("7", hurt_then_resumed(1, 60.0)),
    "three resumes": ("7", hurt_then_resumed(3, 0.1)),
    "no end": ("7", ended(status=None)),
    "a KEEP of another kernel": ("8", keep_another),
    "a KEEP that failed its test": ("8", keep_untested),
    "a bug": ("9", ended(status=3, said="BUG: expctl failed")),
    "a bare refusal": ("9", ended(status=1, said="no")),
    "another verdict on the screen": ("9", ended(said="P2 KEEP")),
}


@pytest.mark.parametrize("name", BROKEN)
def test_the_checker_sees(story: Story, name: str) -> None:
    invariant, spoil = BROKEN[name]
    spoil(story)
    found = story.violations()
    assert any(each.startswith(f"{invariant}:") for each in found), found


def test_the_users_state_is_what_is_compared(story: Story) -> None:
    assert {"files", "index", "stash", "status", "head"} == set(UserState.__slots__)
    assert "untracked" in story.expected.user.files
    assert any(entry.startswith("M ") for entry in story.expected.user.status)


# ------------------------------------------------------------------ the power cut


def test_a_cut_that_loses_nothing_gives_the_disk_of_the_command(lab: Lab) -> None:
    """The log is complete: played back whole, it makes what the command made."""
    story = Trial(lab, Random(SEED), 0, 1).begin(STAGE, EXPERIMENT, VERDICT)
    running = story.start(Plan(logs=True))
    assert running.wait().status == 0
    assert running.plan is not None
    changes = list(read_log(running.plan.log))
    assert {change.kind for change in changes} >= set("cwfrxlumd")
    refs = story.scene.git("for-each-ref")

    def whole(root, log):  # type: ignore[no-untyped-def]
        with open(log, "ab") as file:  # a flush of everything at the end
            for inode in {change.inode for change in changes}:
                file.write(Change.flush(inode))
        return cut(root, log, Loss.DROPPED, Random(SEED))

    assert lab.cut_power(STAGE, running, whole) == 0
    assert story.scene.git("for-each-ref") == refs
    assert story.violations() == ()
