"""Free changes where something is not quite the same: code of one target, names, layouts, what is known of a build."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from expctl.domain.experiment.free_change import SAME_CODE, debt, is_free_keep, settled
from expctl.domain.experiment.proposal import Kind, Mode, Verdict
from expctl.domain.experiment.record import Artifact, Origin, Record, Replication
from expctl.domain.experiment.record import Test as Facts
from expctl.domain.protocol.model import FreeSimplify
from expctl.domain.run.actions import Settle
from expctl.domain.run.actions import Test as DoTest
from expctl.domain.run.events import Begun, BuildFailed, Built, Event, Pinned
from expctl.domain.run.events import Tested as WasTested
from expctl.domain.run.state_machine import Run, advance, next_action
from expctl.domain.run.target_roles import TargetRoles
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.sequential_test import Decision
from expctl.domain.verdict.side import Side

B, C = Side.BASELINE, Side.CANDIDATE
PLAN = Plan(weights={"n": 1.0}, rounds=6, mode=Mode.GAIN, guard=0.005, regression=0.003, worthwhile=0.005, simplify=0.005)
ROLES = TargetRoles(tests=("cpu", "one", "two"), profiles=("cpu",))
FREE = [Kind.SIMPLIFY, Kind.INFRA]
BEGUN = Begun(
    id="P1", target="cpu", guards=("one", "two"), absent=(), base="b0", branch="main", content="c", again=False, date="d"
)
PINNED = Pinned(candidate="c1", tree="t1", patch_id="p1")
SAME = Artifact(sha256="s", code="same", image="i")


def builds(**candidates: Artifact) -> tuple[Event, ...]:
    """Both sides of all three targets; the candidate's are the baseline's unless given."""
    return tuple(
        Built(side=side, target=target, duration_s=1.0, artifact=candidates.get(target, SAME) if side is C else SAME)
        for target in ("cpu", "one", "two")
        for side in (B, C)
    )


def ended(events: Sequence[Event], kind: Kind = Kind.SIMPLIFY, roles: TargetRoles = ROLES, failing: str = "") -> Decision | str:
    """The decision, or what is done next if that is neither test nor end. Every test passes but that of `failing`."""
    run = Run(kind=kind, plan=PLAN, roles=roles, events=(BEGUN, PINNED, *events))
    for _ in range(10):
        match action := next_action(run):
            case Settle(decision=decision):
                return decision
            case DoTest(target=target):
                ok = target != failing
                run = advance(run, WasTested(ok=ok, fault=False, cases=1, summary="it", duration_s=1.0, target=target))
            case _:
                return type(action).__name__
    raise AssertionError("it tests for ever")


def verdict(*args: object, **named: object) -> str:
    found = ended(*args, **named)  # type: ignore[arg-type]
    return found if isinstance(found, str) else found.verdict.value


@pytest.mark.parametrize("kind", FREE)
@pytest.mark.parametrize(
    "changed",
    [
        Artifact(sha256="s", code="other", image="i"),
        Artifact(sha256="t", code="same ", image="i"),
        Artifact(sha256="t", code="other", image="other"),
    ],
)
@pytest.mark.parametrize("target", ["one", "two"])
def test_a_change_of_one_guards_code_is_not_free(kind: Kind, changed: Artifact, target: str) -> None:
    found = ended(builds(**{target: changed}), kind)
    assert isinstance(found, Decision)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert not any(SAME_CODE in reason for reason in found.reasons)


@pytest.mark.parametrize("kind", FREE)
def test_a_change_of_the_timed_code_is_timed(kind: Kind) -> None:
    assert verdict(builds(cpu=Artifact(sha256="t", code="other", image="i")), kind) == "Measure"


@pytest.mark.parametrize("target", ["cpu", "one", "two"])
def test_other_names_on_one_target_are_not_free(target: str) -> None:
    found = ended(builds(**{target: replace(SAME, image="j")}))
    assert isinstance(found, Decision)
    assert found.verdict is Verdict.NO_OP
    assert any(f"differ on {target}" in reason for reason in found.reasons)


def test_other_debug_information_is_free() -> None:
    """Another file with the same code and names."""
    assert verdict(builds(cpu=replace(SAME, sha256="t"), one=replace(SAME, sha256="u"))) == "KEEP"


def test_the_canonical_layout_is_compared_and_no_other() -> None:
    assert verdict(builds(cpu=replace(SAME, layouts=("x", "y")))) == "KEEP"
    assert verdict(builds(cpu=replace(SAME, layouts=("x", "y"))), Kind.PERF) == "NO-OP"


@pytest.mark.parametrize("failing", ["", "one", "two"])
def test_a_test_that_fails_on_any_built_target_rejects(failing: str) -> None:
    wanted = "REJECT" if failing else "KEEP"
    assert verdict(builds(), failing=failing or "none") == wanted


@pytest.mark.parametrize("strict", list(FreeSimplify))
@pytest.mark.parametrize("side", list(Side))
def test_a_guard_that_builds_on_one_side_alone(side: Side, strict: FreeSimplify) -> None:
    """The baseline's fault is a debt, or under `all` no KEEP; the candidate's is a REJECT."""
    made = [each for each in builds() if not (isinstance(each, Built) and each.target == "two")]
    if side is C:
        made.append(Built(side=B, target="two", duration_s=1.0, artifact=SAME))
    made.append(BuildFailed(side=side, target="two", reason="no"))
    found = ended(made, roles=replace(ROLES, free_simplify=strict))
    assert isinstance(found, Decision)
    if side is C:
        assert found.verdict is Verdict.REJECT
    elif strict is FreeSimplify.ALL:
        assert found.verdict is Verdict.NO_OP
    else:
        assert (found.verdict, found.reasons[1]) == (Verdict.KEEP, "compared on cpu, one; not built, an open debt: two")


def test_a_guard_that_differs_is_no_debt_of_another_that_is_missing() -> None:
    """One guard could not be built, the other's code changed: not free, whatever is missing."""
    made = [each for each in builds(one=replace(SAME, code="other")) if not (isinstance(each, Built) and each.target == "two")]
    made.append(BuildFailed(side=B, target="two", reason="no"))
    found = ended(made)
    assert isinstance(found, Decision)
    assert found.verdict is not Verdict.KEEP


def test_what_is_absent_and_what_was_not_built_are_each_named_once() -> None:
    made = [each for each in builds() if not (isinstance(each, Built) and each.target == "two")]
    made.append(BuildFailed(side=B, target="two", reason="no"))
    found = ended(made, roles=replace(ROLES, absent=("three",)))
    assert isinstance(found, Decision)
    assert found.reasons[1] == "compared on cpu, one; not built, an open debt: two, three"


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind not in FREE])
@pytest.mark.parametrize("mode", list(Mode))
def test_no_other_kind_is_free_in_any_mode(kind: Kind, mode: Mode) -> None:
    run = Run(kind=kind, plan=replace(PLAN, mode=mode), roles=ROLES, events=(BEGUN, PINNED, *builds()))
    action = next_action(run)
    assert isinstance(action, Settle)
    assert action.decision.verdict is Verdict.NO_OP


# ------------------------------------------------------------------ debts


def test_a_debt_is_paid_under_its_whole_name_alone() -> None:
    owed = (debt("P1", "gfx1151"), debt("P1", "gfx1151-static"), "unmeasured at home: gfx1151", "look twice")
    assert settled(owed, ["gfx1151"]) == owed[1:]
    assert settled(owed, ["gfx1151-static"]) == (owed[0], *owed[2:])
    assert settled(owed, ["gfx", "1151", ""]) == owed
    assert settled(owed, ["gfx1151-static", "gfx1151"]) == owed[2:]


# ------------------------------------------------------------------ what a record may claim

CLAIM = Record(
    id="P1", title="t", kind=Kind.SIMPLIFY, origin=Origin.MEASURED, target="cpu", verdict=Verdict.KEEP,
    reasons=(SAME_CODE, "compared on cpu"), test=Facts(ok=True, cases=1, summary="it"),
    artifacts={"baseline": {"cpu": SAME}, "candidate": {"cpu": SAME}},
)  # fmt: skip
OTHER = replace(SAME, code="other")


def test_an_honest_claim_is_believed() -> None:
    assert is_free_keep(CLAIM, CLAIM)


@pytest.mark.parametrize(
    "claim",
    [
        replace(CLAIM, kind=Kind.PERF),
        replace(CLAIM, verdict=Verdict.NO_OP),
        replace(CLAIM, reasons=("gain beyond noise",)),
        replace(CLAIM, test=None),
        replace(CLAIM, test=Facts(ok=False, cases=1, summary="it")),
        replace(CLAIM, artifacts={}),
        replace(CLAIM, artifacts={"baseline": {"cpu": SAME}}),
        replace(CLAIM, artifacts={"baseline": {"cpu": SAME}, "candidate": {}}),
        replace(CLAIM, artifacts={"baseline": {"cpu": SAME}, "candidate": {"cpu": OTHER}}),
        replace(CLAIM, artifacts={"baseline": {"cpu": SAME}, "candidate": {"cpu": replace(SAME, image="j")}}),
        replace(CLAIM, artifacts={"baseline": {"cpu": SAME, "g": SAME}, "candidate": {"cpu": SAME, "g": OTHER}}),
        replace(CLAIM, artifacts={"baseline": {"g": SAME}, "candidate": {"g": SAME}}),
        replace(CLAIM, guard_tests={"g": Facts(ok=False, cases=1, summary="it")}),
    ],
    ids=["kind", "verdict", "reason", "no test", "failed test", "no builds", "one side", "empty side", "other code",
         "other names", "other guard", "not the timed target", "failed guard test"],
)  # fmt: skip
def test_a_claim_that_its_own_record_contradicts_is_not(claim: Record) -> None:
    assert not is_free_keep(claim, claim)


def test_a_replication_may_be_free_where_the_record_is_not_contradicted() -> None:
    again = Replication(
        target="cpu", date="d", verdict=Verdict.KEEP, reasons=(SAME_CODE, "compared on cpu"), estimates=(), environment={}
    )
    assert is_free_keep(replace(CLAIM, replications=(again,)), again)
    assert not is_free_keep(replace(CLAIM, kind=Kind.CONFIG), again)
    assert not is_free_keep(CLAIM, replace(again, verdict=Verdict.REJECT))
