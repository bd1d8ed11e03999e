"""Agents that are silent, endless, circling, or go where they shouldn't: what can't be taken is refused, and they are told."""

import os
import time

import pytest

from tests.e2e.foreign import contents, wait_until
from tests.e2e.night.strangers.conftest import Night, some

REFUSED = (
    ("silent",),
    ("only_outside",),
    ("protected", "bench/test.py"),
    ("protected", "bench/more.py"),
    ("protected", "protocol.yaml"),
    ("hides",),
    ("words_are", "fifo"),
    ("words_are", "link"),
    ("words_are", "loop"),
    ("words_are", "device"),
    ("words_are", "folder"),
    ("words_are", "huge"),
    ("words_are", "binary"),
    ("kernel_is", "fifo"),
    ("kernel_is", "link"),
    ("kernel_is", "repository"),
    ("names",),
    ("large",),
    ("mode",),
    ("attributes",),
    ("deletes",),
    ("deletes_scratch",),
)


@pytest.mark.parametrize("habit", some(REFUSED), ids="-".join)
def test_what_can_not_be_taken_is_refused_and_told(night: Night, habit: tuple[str, ...]) -> None:
    night.employ(*habit)
    before = contents(night.repository.root)
    night.ask(2)
    assert night.proposed() == []
    assert night.calls() == 2
    assert contents(night.repository.root) == before
    assert night.told(1) != night.told(0)
    assert "\x1b" not in night.told(1)


@pytest.mark.parametrize("habit", some(["commits", "branches", "outside", "leaves_children", "without_git", "floods", "deaf"]))
def test_a_good_change_is_taken_whatever_the_agent_does_beside(night: Night, habit: str) -> None:
    night.employ(habit)
    night.ask(1)
    assert night.proposed() == ["P1"]
    assert night.changes("P1") == ["src/total.py"]
    assert night.repository.record("P1")["verdict"]


def test_a_git_folder_that_leads_to_the_users_repository(night: Night) -> None:
    night.employ("borrows_git", str(night.repository.root))
    head = night.repository.head()
    night.ask(1)
    assert night.repository.git("status", "--porcelain") == ""
    assert night.repository.git("rev-list", f"{head}..HEAD", "--", "bench", "protocol.yaml") == ""
    assert night.proposed() in ([], ["P1"])


@pytest.mark.parametrize("habit", ["fails_with_a_good_change", "killed"])
def test_one_that_ends_badly_is_not_asked_for_ever(night: Night, habit: str) -> None:
    night.employ(habit)
    night.ask(9)
    assert night.calls() == 3
    assert night.proposed() == []


def test_one_without_an_end_is_ended_with_its_children(night: Night) -> None:
    night.employ("endless", timeout_s=1)
    begun = time.monotonic()
    night.ask(9)
    assert night.calls() == 3
    assert night.proposed() == []
    assert time.monotonic() - begun < 60


def test_ctrl_c_ends_the_agent_too(night: Night) -> None:
    night.employ("endless", timeout_s=300)
    runner = night.repository.start("run", "--all", "--propose", "5")
    wait_until(lambda: night.calls() == 1, "the first call")
    runner.send_signal(2)
    time.sleep(1)  # two of one kind that are both pending are one
    runner.send_signal(2)
    assert runner.wait(240) != 0
    wait_until(lambda: night.repository.survivors() == [], "the agent's end")
    assert "Traceback" not in night.repository.said()
    assert night.calls() == 1


@pytest.mark.parametrize(("habit", "asked"), [("silent", 3), ("same", 4), ("one_idea", 3), ("only_outside", 3)])
def test_a_circle_ends_the_asking(night: Night, habit: str, asked: int) -> None:
    """`same` gets its first change measured, and is refused three times after that."""
    night.employ(habit, screen=True)
    night.ask(9)
    assert night.calls() == asked


def test_three_ideas_that_fail_are_no_circle(night: Night) -> None:
    night.employ("three_ideas", screen=True)
    night.ask(5)
    assert night.calls() == 5
    assert night.proposed() == []


def test_what_another_process_of_the_agent_holds_is_let_go(night: Night) -> None:
    """Folders without rights can't be read, nor may they stay for ever."""
    night.employ("locks_up")
    night.ask(2)
    assert night.repository.git("status", "--porcelain") == ""
    left = [folder for folder, _, _ in os.walk(night.repository.root / ".git/expctl") if not os.access(folder, os.W_OK)]
    assert left == []
