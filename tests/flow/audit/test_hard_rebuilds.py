"""Stacks of several files, rebuilt without one change: chains, forks, two needs of one change, empty changes."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from expctl.domain.experiment.proposal import Verdict
from expctl.domain.experiment.record import Artifact
from expctl.domain.history.audit import Audit, LeftOut
from expctl.domain.protocol.model import Target
from expctl.domain.run.step_result import Failed
from expctl.flow.audit.stack_audit import Asked, audit
from expctl.flow.run.experiment import run_experiment
from expctl.views.audit import audit_lines
from tests.fakes.measuring import FakeToolchains
from tests.fakes.stage import Stage


@dataclass
class SummingToolchains(FakeToolchains):
    """A kernel of several files takes what all of them cost together; an empty file can't be compiled."""

    def build(self, name: str, target: Target, *, tree: Path, sources: str, like: Artifact | None = None) -> Artifact | Failed:
        files = self.workspace.commits[tree.name].files
        costs = [text for path, text in sorted(files.items()) if path.startswith("src/")]
        if b"" in costs:
            return Failed(reason="an empty file")
        total = sum(int(text.split()[0]) for text in costs)
        whole = self.workspace.add(tree.name, {**files, "src/kernel": f"slow {total}".encode()}, "linked")
        return super().build(name, target, tree=Path(whole), sources=sources, like=like)


class Stack:
    """Three files of 1,000,000 ns each; `keep` has expctl keep a change of some of them."""

    def __init__(self) -> None:
        self.stage = Stage()
        self.stage.toolchains = SummingToolchains(self.stage.workspace, gate=self.stage.gate)
        files: dict[str, bytes | None] = {"src/kernel": None}
        self.stage.workspace.edit({**files, **{f"src/{name}": b"1000000" for name in "abc"}})
        self.kept = 0

    def keep(self, **files: int | None) -> str:
        self.kept += 1
        name = f"P{self.kept}"
        patch = {f"src/{file}": None if cost is None else str(cost) for file, cost in files.items()}
        self.stage.queue(name, "", patch=json.dumps(patch).encode())
        record = run_experiment(self.stage.context(), name).record
        assert record.verdict is Verdict.KEEP, record.reasons
        return name

    def by_hand(self, **files: str | None) -> None:
        changed = {f"src/{file}": None if text is None else text.encode() for file, text in files.items()}
        self.stage.workspace.edit(changed, "by hand")

    def audited(self) -> Audit:
        before = dict(self.stage.workspace.refs)
        found = audit(self.stage.context(), Asked(leave_one_out=True))
        assert self.stage.workspace.refs == before
        assert self.stage.workspace.check_outs == set()
        return found

    def left_out(self) -> dict[str, LeftOut]:
        return {each.name: each for each in self.audited().left_out}


def needs(left: dict[str, LeftOut]) -> dict[str, str]:
    return {name: each.needed_by for name, each in left.items()}


def gained(left: LeftOut) -> float:
    assert left.contest.objective is not None, left.contest.note
    return left.contest.objective.effect_percent


def test_changes_of_different_files_are_each_left_out_and_give_their_own_part() -> None:
    stack = Stack()
    stack.keep(a=900_000)
    stack.keep(b=700_000)
    stack.keep(c=800_000)
    left = stack.left_out()
    assert needs(left) == {"P1": "", "P2": "", "P3": ""}
    now = 2_400_000
    for name, back in (("P1", 100_000), ("P2", 300_000), ("P3", 200_000)):
        assert gained(left[name]) == pytest.approx(100 * back / now, abs=0.1)
        assert left[name].contest.verdict is Verdict.KEEP


def test_a_change_that_depends_on_two_earlier_ones_is_named_by_both() -> None:
    stack = Stack()
    stack.keep(a=900_000)
    stack.keep(b=900_000)
    stack.keep(a=800_000, b=800_000)
    stack.keep(c=900_000)
    audited = stack.audited()
    left = {each.name: each for each in audited.left_out}
    assert needs(left) == {"P1": "P3", "P2": "P3", "P3": "", "P4": ""}
    for name, file in (("P1", "src/a"), ("P2", "src/b")):
        assert left[name].contest.verdict is None
        assert left[name].contest.note.startswith(f"P3 depends on it and can't be applied without it: conflict in {file}")
        assert any(line.startswith(f"  without    {name}: P3 depends on it") for line in audit_lines(audited))
    assert gained(left["P3"]) == pytest.approx(100 * 200_000 / 2_500_000, abs=0.1)


def test_a_chain_names_the_next_link_and_not_the_last() -> None:
    stack = Stack()
    for cost in (900_000, 800_000, 700_000):
        stack.keep(a=cost)
    stack.keep(b=900_000)
    assert needs(stack.left_out()) == {"P1": "P2", "P2": "P3", "P3": "", "P4": ""}


def test_one_that_two_later_changes_need_names_the_first_of_them() -> None:
    stack = Stack()
    stack.keep(a=900_000, b=900_000)
    stack.keep(c=900_000)
    stack.keep(b=800_000)
    stack.keep(a=800_000)
    assert needs(stack.left_out()) == {"P1": "P3", "P2": "", "P3": "", "P4": ""}


def test_a_file_that_a_change_added_and_a_later_one_changed() -> None:
    stack = Stack()
    stack.keep(a=500_000, new=300_000)
    stack.keep(new=200_000)
    stack.keep(b=900_000)
    assert needs(stack.left_out()) == {"P1": "P2", "P2": "", "P3": ""}


def test_a_file_that_a_later_change_took_away() -> None:
    """Without the first change, the file that the second removes is another one than it knew."""
    stack = Stack()
    stack.keep(a=900_000)
    stack.keep(a=None)
    left = stack.left_out()
    assert needs(left) == {"P1": "P2", "P2": ""}
    assert gained(left["P2"]) == pytest.approx(45, abs=0.2)


def test_what_was_undone_by_hand_leaves_nothing_to_measure() -> None:
    stack = Stack()
    stack.keep(a=900_000)
    stack.keep(b=900_000)
    stack.by_hand(a="1000000")
    audited = stack.audited()
    first, second, by_hand = audited.left_out
    assert (first.needed_by, first.contest.note) == ("", "nothing of it is left in HEAD; not measured")
    assert gained(second) == pytest.approx(100 * 100_000 / 2_900_000, abs=0.1)
    assert by_hand.needed_by == ""
    assert by_hand.contest.verdict is Verdict.REJECT


def test_what_makes_no_other_code_is_not_timed() -> None:
    stack = Stack()
    stack.keep(a=900_000)
    stack.by_hand(b="1000000 and words")
    left = stack.left_out()
    (words,) = [each for name, each in left.items() if name.endswith("by hand")]
    assert words.contest.note == "the same machine code; nothing was timed"


def test_a_rebuilt_stack_that_does_not_build_is_a_note_and_the_others_are_measured() -> None:
    stack = Stack()
    stack.by_hand(b="")
    stack.stage.workspace.edit({"src/b": b"1000000"}, "mended")
    stack.keep(a=900_000)
    stack.by_hand(c="")
    stack.by_hand(c="900000")
    left = stack.left_out()
    last = list(left.values())[-1]
    assert "does not build for cpu: an empty file" in last.contest.note
    assert left["P1"].contest.verdict is Verdict.KEEP


def test_a_benchmark_that_fails_for_one_stack_does_not_end_the_audit() -> None:
    stack = Stack()
    stack.keep(a=900_000)
    stack.keep(b=900_000)
    stack.stage.steps.fails_measure = [*[None] * 9, Failed(reason="no device", fault=True)]
    left = stack.left_out()
    assert left["P1"].contest.note == "benchmark: no device"
    assert left["P2"].contest.verdict is Verdict.KEEP


def test_leaving_out_changes_nothing_of_the_users() -> None:
    stack = Stack()
    stack.keep(a=900_000)
    stack.keep(b=900_000)
    head, files = stack.stage.workspace.head(), stack.stage.workspace.commits[stack.stage.workspace.head()].files
    stack.left_out()
    assert stack.stage.workspace.head() == head
    assert stack.stage.workspace.commits[head].files == files
