"""A rejected patch that no longer fits is compared where a merge carries it, else on the commit that it was made for."""

from collections.abc import Sequence

from expctl.domain.experiment.proposal import Verdict
from expctl.domain.experiment.record import Record
from expctl.domain.protocol.model import Protocol
from expctl.domain.rules.match_levels import Level
from expctl.domain.rules.meaning import Compiled, Version, Wanted
from expctl.flow.rules.by_meaning import rejected_compiled
from expctl.flow.rules.repeat_check import matching_rules
from expctl.flow.rules.trial import try_rule
from expctl.flow.run.experiment import run_experiment
from expctl.views.rules import trial_lines
from tests.fakes.rules import FakeRulebook
from tests.fakes.stage import PROTOCOL, Stage, patch_to

REJECTED, CARRIED, RESPELLED, OTHER = (patch_to(f"slow {loss}") for loss in (1100000, 1200000, 1300000, 1400000))
DOES = {b"": "", REJECTED: "slow", CARRIED: "slow", RESPELLED: "slow", OTHER: "other"}


class Compilers:
    """The function is another one in each commit, so that only changes of one commit are the same."""

    protocol: Protocol = PROTOCOL

    def targets(self) -> tuple[str, ...]:
        return ("cpu",)

    def here(self, versions: Sequence[tuple[Version, str]]) -> tuple[bool, ...]:
        return tuple(True for _ in versions)

    def differ(self, one: Version, other: Version, target: str) -> bool:  # noqa: ARG002
        return one != other

    def compiled(self, wanted: Sequence[Wanted]) -> tuple[Compiled | None, ...]:
        return tuple(Compiled(functions={"f": f"{each.version.commit} {DOES[each.version.patch]}"}) for each in wanted)


class Book(FakeRulebook):
    """Rules with compilers. The rejected patch fits its base alone; `merged` is what a merge makes of it."""

    merged: bytes | None = None

    def meanings(self, commit: str) -> Compilers:  # type: ignore[override]  # noqa: ARG002
        return Compilers()

    def misfits(self, commit: str, patch: bytes) -> tuple[str, ...]:  # noqa: ARG002
        return ("src/kernel",) if patch == REJECTED else ()

    def rejected_patch(self, commit: str, experiment: str) -> bytes | None:  # noqa: ARG002
        return REJECTED

    def carried(self, commit: str, base: str, patch: bytes) -> bytes | None:
        assert (commit, patch) == (self.library.workspace.head(), REJECTED)
        assert base in self.library.workspace.commits
        assert base != commit
        return self.merged


def book(merged: bytes | None) -> tuple[Book, str, Record]:
    stage = Stage()
    stage.queue("P1", "slow 1100000")
    record = run_experiment(stage.context(), "P1").record
    assert record.verdict is Verdict.REJECT
    made = Book(stage.library, stage.circumstances)
    made.merged = merged
    return made, stage.workspace.head(), record


def refused_by(merged: bytes | None, patch: bytes) -> list[tuple[str, Level]]:
    made, head, _ = book(merged)
    return [(each.record.id, each.level) for each, _ in matching_rules(made, head, patch).matches]


def test_a_repeat_is_known_where_the_rejected_patch_is_carried() -> None:
    assert refused_by(CARRIED, RESPELLED) == [("P1", Level.MEANING)]
    assert refused_by(CARRIED, OTHER) == []


def test_one_in_conflict_stays_on_its_base() -> None:
    assert refused_by(None, RESPELLED) == []


def test_what_is_compiled_before_any_change_is_the_carried_patch() -> None:
    made, head, record = book(CARRIED)
    assert {each.version for each in rejected_compiled(made, head, made.now)} == {Version(head), Version(head, CARRIED)}
    made.merged = None
    versions = {each.version for each in rejected_compiled(made, head, made.now)}
    assert versions == {Version(record.base), Version(record.base, REJECTED)}


def test_a_rule_is_tried_where_its_patch_is_carried() -> None:
    made, head, record = book(CARRIED)
    tried = trial_lines(try_rule(made, head, record))
    assert tried[1:3] == [
        "    patch      no longer fits HEAD, but a merge carries it there",
        "    compiled   for cpu: changes 1 function",
    ]
    made.merged = None
    lines = trial_lines(try_rule(made, head, record))
    assert lines[1] == "    patch      no longer fits HEAD"
    assert not any("for cpu" in line for line in lines)
