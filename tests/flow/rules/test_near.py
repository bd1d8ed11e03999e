"""What compiles to nearly the same as a rejected change is shown; it is refused where the rejected proposal asked for that."""

from collections.abc import Sequence

import pytest

from expctl.domain.experiment.proposal import Verdict
from expctl.domain.protocol.model import Protocol
from expctl.domain.rules.match_levels import Level
from expctl.domain.rules.meaning import Compiled, Version, View, Wanted
from expctl.flow.rules.repeat_check import KnownRules, Repeated, check_patch, matching_rules, refusal
from expctl.flow.rules.resemblance import CODE_FROM_PERCENT, Pair, resemblance
from expctl.flow.run.experiment import run_experiment
from tests.fakes.rules import FakeRulebook
from tests.fakes.stage import PROTOCOL, Stage, patch_to, proposal

REJECTED, NEAR, FAR = (patch_to(f"slow {loss}") for loss in (1100000, 1200000, 1300000))
PARTS = {
    b"": {"add": 1},
    REJECTED: {"add": 1, "mul": 4, "store": 2},
    NEAR: {"add": 1, "mul": 4, "store": 1},
    FAR: {"add": 1, "fence": 3, "store": 1},
}


class Compilers:
    """What tells versions apart by their patch."""

    protocol: Protocol = PROTOCOL

    def targets(self) -> tuple[str, ...]:
        return ("cpu",)

    def here(self, versions: Sequence[tuple[Version, str]]) -> tuple[bool, ...]:
        return tuple(True for _ in versions)

    def differ(self, one: Version, other: Version, target: str) -> bool:  # noqa: ARG002
        return one != other

    def compiled(self, wanted: Sequence[Wanted]) -> tuple[Compiled | None, ...]:
        return tuple(Compiled(functions={"f": repr(each.version)}, parts={"f": PARTS[each.version.patch]}) for each in wanted)


class Book(FakeRulebook):
    """Rules with compilers, whose rejected patch fits HEAD."""

    def meanings(self, commit: str) -> Compilers:  # type: ignore[override]  # noqa: ARG002
        return Compilers()

    def rejected_patch(self, commit: str, experiment: str) -> bytes | None:  # noqa: ARG002
        return REJECTED


def book(*, refuses_near: bool) -> tuple[Book, str]:
    stage = Stage()
    stage.queue("P1", "slow 1100000", refuses_near=refuses_near)
    assert run_experiment(stage.context(), "P1").record.verdict is Verdict.REJECT
    return Book(stage.library, stage.circumstances), stage.workspace.head()


def told(found: KnownRules) -> tuple[list[tuple[str, Level]], list[tuple[str, int]]]:
    return [(each.record.id, each.level) for each, _ in found.matches], [(each.record.id, each.percent) for each in found.near]


def test_what_is_near_is_shown() -> None:
    assert told(matching_rules(*book(refuses_near=False), NEAR)) == ([], [("P1", 83)])
    assert told(matching_rules(*book(refuses_near=False), FAR)) == ([], [])


def test_what_is_near_is_refused_where_the_author_asked_for_it() -> None:
    assert told(matching_rules(*book(refuses_near=True), NEAR)) == ([("P1", Level.NEAR)], [])
    assert told(matching_rules(*book(refuses_near=True), FAR)) == ([], [])


def test_a_written_precondition_lets_it_pass_and_is_kept() -> None:
    made, head = book(refuses_near=True)
    with pytest.raises(Repeated) as caught:
        check_patch(made, PROTOCOL, proposal("P2"), NEAR, commit=head, targets=("cpu",))
    assert "close by meaning: another change, but 83 % of what the two compile to is the same" in caught.value.found
    waivers = check_patch(made, PROTOCOL, proposal("P2", precondition="one store less"), NEAR, commit=head, targets=("cpu",))
    assert [(each.rule, each.level, each.reason, each.written) for each in waivers] == [
        ("P1", Level.NEAR, "one store less", True)
    ]


def test_other_rules_that_know_it_are_named() -> None:
    ((match, _),) = matching_rules(*book(refuses_near=True), NEAR).matches
    assert "also P1: close by meaning: another change, but 83 %" in refusal(match, "", match).found
    assert "also" not in refusal(match, "").found


class Counting(Compilers):
    """What remembers which views are asked for at a time."""

    def __init__(self) -> None:
        self.asked: list[set[View]] = []

    def compiled(self, wanted: Sequence[Wanted]) -> tuple[Compiled | None, ...]:
        self.asked.append({each.view for each in wanted})
        return super().compiled(wanted)


def test_what_tells_changes_apart_is_compiled_at_the_same_time() -> None:
    compilers = Counting()
    rejected, near, far = (Pair(before=Version("c"), after=Version("c", patch)) for patch in (REJECTED, NEAR, FAR))
    assert resemblance(compilers, rejected, near, ["cpu"]).percent == 83
    assert compilers.asked[:2] == [{View.MEANING}, {View.CODE, View.PLAIN}]
    compilers.asked.clear()
    assert resemblance(compilers, rejected, far, ["cpu"]).percent < CODE_FROM_PERCENT
    assert compilers.asked[:2] == [{View.MEANING}, {View.PLAIN}]


class Plainly(Compilers):
    """What writes other code of two patches, that without vectors has the functions `plain` (by patch); remembers what it
    compiled to that.
    """

    def __init__(self, plain: dict[bytes, dict[str, str]]) -> None:
        self.plain, self.made = plain, set[Version]()

    def compiled(self, wanted: Sequence[Wanted]) -> tuple[Compiled | None, ...]:
        self.made |= {each.version for each in wanted if each.view is View.PLAIN}
        found = zip(wanted, super().compiled(wanted), strict=True)
        return tuple(
            Compiled(functions=self.plain[each.version.patch], parts={}) if each.view is View.PLAIN else made
            for each, made in found
        )


@pytest.mark.parametrize(
    ("rejected", "other", "is_same", "takes_baseline"),
    [
        ({"f": "1", "g": "2"}, {"f": "1", "g": "3"}, False, False),
        ({"f": "1", "g": "2"}, {"f": "1"}, False, False),
        ({"f": "0", "g": "2"}, {"f": "0", "h": "2"}, True, True),  # a new function by another name
        ({"f": "1", "g": "2"}, {"f": "2", "g": "1"}, False, True),
        ({"f": "1"}, {"f": "1"}, True, True),
    ],
)
def test_a_version_is_compiled_where_what_is_left_of_it_does_not_tell(
    rejected: dict[str, str], other: dict[str, str], is_same: bool, takes_baseline: bool
) -> None:
    compilers = Plainly({b"": {"f": "0"}, REJECTED: rejected, FAR: other})
    base = Version("c")
    one, two = (Pair(before=base, after=Version("c", patch)) for patch in (REJECTED, FAR))
    assert (resemblance(compilers, one, two, ["cpu"]).level is Level.MEANING) is is_same
    assert (base in compilers.made) is takes_baseline
