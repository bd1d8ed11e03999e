"""The order of a run: for every prefix of its events, what comes next."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from expctl.domain.experiment.proposal import Kind, Mode, Verdict
from expctl.domain.experiment.record import Artifact, Fact
from expctl.domain.protocol.model import FreeSimplify, ResourceLimits, Style
from expctl.domain.run.actions import Action, Build, Measure, Nothing, Pin, Profile, Settle
from expctl.domain.run.actions import Test as DoTest
from expctl.domain.run.events import (
    Begun,
    BuildFailed,
    Built,
    Event,
    Invalidated,
    Measured,
    MeasureFailed,
    Pinned,
    Profiled,
    Published,
    Publishing,
)
from expctl.domain.run.events import Tested as WasTested
from expctl.domain.run.state_machine import Run, advance, code_is_unchanged, next_action
from expctl.domain.run.target_roles import TargetRoles
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import Sample, Session, Side
from expctl.domain.verdict.sequential_test import Decision

B, C = Side.BASELINE, Side.CANDIDATE
PLAN = Plan(weights={"n": 1.0}, rounds=6, mode=Mode.GAIN, guard=0.005, regression=0.003, worthwhile=0.005, simplify=0.005)
COURSE = TargetRoles(tests=("cpu",), profiles=("cpu",))
GUARDED = TargetRoles(
    tests=("cpu", "gfx"),
    profiles=("cpu", "gfx"),
    limits={"gfx": ResourceLimits(most={"spills": 0}, may_fall={"occupancy": 1})},
)
BEGUN = Begun(id="P1", target="cpu", guards=("gfx",), absent=(), base="b0", branch="main", content="c", again=False, date="d")
PINNED = Pinned(candidate="c1", tree="t1", patch_id="p1")
PUBLISHED = (Publishing(head="b0", commit="r1"), Published(commit="r1"))
TESTED = WasTested(ok=True, fault=False, cases=3, summary="3 cases pass", duration_s=1.0)
WRONG = replace(TESTED, ok=False, summary="C[3] is 1")


def built(side: Side, target: str, code: str = "") -> Built:
    return Built(side=side, target=target, artifact=Artifact(sha256=f"{side}", code=code or f"{side}"), duration_s=1.0)


BUILDS = (built(B, "cpu"), built(C, "cpu"), built(B, "gfx"), built(C, "gfx"))
SAME = tuple(replace(each, artifact=Artifact(sha256=each.side, code="same")) for each in BUILDS)


def measured(
    index: int, baseline: int, candidate: int, taints: tuple[str, ...] = (), session: Session = Session.SEARCH
) -> Measured:
    def sample(side: Side, ns: int, launch: int) -> Sample:
        return Sample(
            round=index,
            launch=launch,
            side=side,
            size="n",
            style=Style.FINE,
            visit=1,
            ns=(ns, ns),
            order="A",
            taints=taints,
            session=session,
        )

    return Measured(round=index, samples=(sample(B, baseline, 0), sample(C, candidate, 1)))


def rounds(candidate: int, n: int = 3, first: int = 0, session: Session = Session.SEARCH) -> tuple[Measured, ...]:
    return tuple(measured(i, 100_000 + 10 * (i % 2), candidate, (), session) for i in range(first, first + n))


def confirmed(candidate: int, first: int = 3) -> tuple[Measured, ...]:
    return rounds(candidate, 6, first, Session.CONFIRM)


def restless(n: int, first: int = 0, session: Session = Session.SEARCH) -> tuple[Measured, ...]:
    """Rounds of an effect of -4 % and +11 % by turns, two rounds each: nothing can be said."""
    return tuple(measured(i, 100_000, 104_000 if (i - first) % 4 < 2 else 90_000, (), session) for i in range(first, first + n))


def profiled(side: Side, failure: str = "") -> Profiled:
    return Profiled(side=side, facts=(), failure=failure, duration_s=1.0)


def run_of(events: Sequence[Event], *, kind: Kind = Kind.PERF, profiles: bool = True, course: TargetRoles = COURSE) -> Run:
    return Run(kind=kind, plan=PLAN, roles=course if profiles else replace(course, profiles=()), events=tuple(events))


def said(action: Action) -> str:
    """An action in a word or two."""
    match action:
        case Build(side=side, target=target):
            return f"build {target} {side[0]}"
        case Measure(round=index, session=session):
            return f"{'measure' if session is Session.SEARCH else 'confirm'} {index}"
        case Profile(side=side, target=target):
            return f"profile {side[0]}" if target == "cpu" else f"profile {target} {side[0]}"
        case DoTest(target=target):
            return "test" if target == "cpu" else f"test {target}"
        case Settle(decision=decision):
            return f"settle {decision.verdict}"
        case Pin() | Nothing():
            return type(action).__name__.lower()


def decision_of(run: Run) -> Decision:
    action = next_action(run)
    assert isinstance(action, Settle)
    return action.decision


OPENING = "pin, build cpu b, build cpu c, build gfx b, build gfx c"
SEARCHED = ", ".join(f"measure {i}" for i in range(3))
CONFIRMED = ", ".join(f"confirm {i}" for i in range(3, 9))
LIVES: dict[str, tuple[Kind, tuple[Event, ...], str]] = {
    "KEEP": (
        Kind.PERF,
        (
            BEGUN,
            PINNED,
            *BUILDS,
            TESTED,
            *rounds(90_000),
            *confirmed(90_000),
            profiled(B),
            profiled(C, "no profiler"),
            *PUBLISHED,
        ),
        f"{OPENING}, test, {SEARCHED}, {CONFIRMED}, profile b, profile c, settle KEEP, settle KEEP, nothing",
    ),
    "REJECT, not confirmed": (
        Kind.PERF,
        (BEGUN, PINNED, *BUILDS, TESTED, *rounds(90_000), *confirmed(100_005), *PUBLISHED),
        f"{OPENING}, test, {SEARCHED}, {CONFIRMED}, settle REJECT, settle REJECT, nothing",
    ),
    "INCONCLUSIVE": (
        Kind.PERF,
        (BEGUN, PINNED, *BUILDS, TESTED, *restless(6), *PUBLISHED),
        f"{OPENING}, test, {SEARCHED}, measure 3, measure 4, measure 5, settle INCONCLUSIVE, settle INCONCLUSIVE, nothing",
    ),
    "REJECT, slower": (
        Kind.PERF,
        (BEGUN, PINNED, *BUILDS, TESTED, *rounds(110_000), *PUBLISHED),
        f"{OPENING}, test, {SEARCHED}, settle REJECT, settle REJECT, nothing",
    ),
    "REJECT, no effect": (
        Kind.PERF,
        (BEGUN, PINNED, *BUILDS, TESTED, *rounds(100_005), *PUBLISHED),
        f"{OPENING}, test, {SEARCHED}, settle REJECT, settle REJECT, nothing",
    ),
    "REJECT, wrong": (
        Kind.PERF,
        (BEGUN, PINNED, *BUILDS, replace(TESTED, ok=False, summary="C[3] is 1"), *PUBLISHED),
        f"{OPENING}, test, settle REJECT, settle REJECT, nothing",
    ),
    "INVALID, the test is broken": (
        Kind.PERF,
        (BEGUN, PINNED, *BUILDS, replace(TESTED, ok=False, fault=True, summary="no device"), *PUBLISHED),
        f"{OPENING}, test, settle INVALID, settle INVALID, nothing",
    ),
    "REJECT, wrong while timed": (
        Kind.PERF,
        (BEGUN, PINNED, *BUILDS, TESTED, *rounds(90_000, 2), MeasureFailed(reason="wrong", blames_candidate=True), *PUBLISHED),
        f"{OPENING}, test, measure 0, measure 1, measure 2, settle REJECT, settle REJECT, nothing",
    ),
    "INVALID, the benchmark is broken": (
        Kind.PERF,
        (BEGUN, PINNED, *BUILDS, TESTED, MeasureFailed(reason="no device", blames_candidate=False), *PUBLISHED),
        f"{OPENING}, test, measure 0, settle INVALID, settle INVALID, nothing",
    ),
    "REJECT, does not build": (
        Kind.PERF,
        (BEGUN, PINNED, BUILDS[0], BuildFailed(side=C, target="cpu", reason="syntax"), *PUBLISHED),
        "pin, build cpu b, build cpu c, settle REJECT, settle REJECT, nothing",
    ),
    "REJECT, does not build for a guard": (
        Kind.PERF,
        (BEGUN, PINNED, *BUILDS[:3], BuildFailed(side=C, target="gfx", reason="asm"), *PUBLISHED),
        f"{OPENING}, settle REJECT, settle REJECT, nothing",
    ),
    "INVALID, the baseline does not build": (
        Kind.PERF,
        (BEGUN, PINNED, BuildFailed(side=B, target="cpu", reason="no compiler"), *PUBLISHED),
        "pin, build cpu b, settle INVALID, settle INVALID, nothing",
    ),
    "a guard that guards nothing": (
        Kind.PERF,
        (BEGUN, PINNED, *BUILDS[:2], BuildFailed(side=B, target="gfx", reason="asm"), TESTED, *rounds(110_000), *PUBLISHED),
        f"pin, build cpu b, build cpu c, build gfx b, test, {SEARCHED}, settle REJECT, settle REJECT, nothing",
    ),
    "NO-OP": (
        Kind.PERF,
        (BEGUN, PINNED, *SAME, *PUBLISHED),
        f"{OPENING}, settle NO-OP, settle NO-OP, nothing",
    ),
    "KEEP, free": (
        Kind.SIMPLIFY,
        (BEGUN, PINNED, *SAME, TESTED, *PUBLISHED),
        f"{OPENING}, test, settle KEEP, settle KEEP, nothing",
    ),
    "REJECT, free but wrong": (
        Kind.INFRA,
        (BEGUN, PINNED, *SAME, replace(TESTED, ok=False, summary="no symbol"), *PUBLISHED),
        f"{OPENING}, test, settle REJECT, settle REJECT, nothing",
    ),
    "INVALID before the pin": (
        Kind.PERF,
        (BEGUN, Invalidated(reason="the base moved"), *PUBLISHED),
        "pin, settle INVALID, settle INVALID, nothing",
    ),
    "INVALID after deciding": (
        Kind.PERF,
        (BEGUN, PINNED, *BUILDS, TESTED, *rounds(110_000), Invalidated(reason="the base moved"), *PUBLISHED),
        f"{OPENING}, test, {SEARCHED}, settle REJECT, settle INVALID, settle INVALID, nothing",
    ),
    "an analysis whose results are wrong": (
        Kind.ANALYSIS,
        (BEGUN, PINNED, *BUILDS, WRONG, *rounds(110_000), profiled(B), profiled(C), *PUBLISHED),
        f"{OPENING}, test, {SEARCHED}, profile b, profile c, settle KEEP, settle KEEP, nothing",
    ),
    "an analysis on a broken machine": (
        Kind.ANALYSIS,
        (BEGUN, PINNED, *BUILDS, replace(WRONG, fault=True), *PUBLISHED),
        f"{OPENING}, test, settle INVALID, settle INVALID, nothing",
    ),
    "an analysis of something slower": (
        Kind.ANALYSIS,
        (BEGUN, PINNED, *BUILDS, TESTED, *rounds(110_000), profiled(B), profiled(C), *PUBLISHED),
        f"{OPENING}, test, {SEARCHED}, profile b, profile c, settle KEEP, settle KEEP, nothing",
    ),
}


@pytest.mark.parametrize("name", LIVES)
def test_every_prefix_of_a_life_has_its_next_action(name: str) -> None:
    kind, events, wanted = LIVES[name]
    prefixes = [run_of(events[:n], kind=kind) for n in range(1, len(events) + 1)]
    assert ", ".join(said(next_action(run)) for run in prefixes) == wanted


@pytest.mark.parametrize("name", LIVES)
def test_to_replay_is_to_have_run(name: str) -> None:
    kind, events, _ = LIVES[name]
    run = run_of((), kind=kind)
    for n, event in enumerate(events, start=1):
        run = advance(run, event)
        assert run == run_of(events[:n], kind=kind)
        assert next_action(run) == next_action(run_of(events[:n], kind=kind))


def test_without_a_profile_step_a_keep_is_settled_at_once() -> None:
    run = run_of((BEGUN, PINNED, *BUILDS, TESTED, *rounds(90_000), *confirmed(90_000)), profiles=False)
    assert said(next_action(run)) == "settle KEEP"


def test_one_guard_with_new_code_is_worth_measuring() -> None:
    same = Artifact(sha256="s", code="same")
    events: tuple[Event, ...] = (BEGUN, PINNED, *(replace(each, artifact=same) for each in BUILDS[:2]), *BUILDS[2:])
    assert said(next_action(run_of(events))) == "test"


def test_the_code_of_an_unbuilt_side_is_not_unchanged() -> None:
    run = run_of((BEGUN, PINNED, BUILDS[0]))
    assert not code_is_unchanged(run, "cpu")
    assert not code_is_unchanged(run, "gfx")
    assert code_is_unchanged(run_of((BEGUN, built(B, "cpu", "x"), built(C, "cpu", "x"))), "cpu")


REASONS = {
    "REJECT, wrong": "test: C[3] is 1; nothing was timed",
    "INVALID, the test is broken": "test: no device; nothing was timed",
    "REJECT, wrong while timed": "benchmark: wrong",
    "REJECT, does not build": "does not build for cpu: syntax; nothing was timed",
    "REJECT, does not build for a guard": "does not build for gfx: asm; nothing was timed",
    "INVALID, the baseline does not build": "the baseline does not build for cpu: no compiler",
    "NO-OP": "the same code sections as the baseline on cpu, gfx; nothing was timed",
    "REJECT, free but wrong": "test: no symbol; nothing was timed",
    "INVALID before the pin": "the base moved",
}


@pytest.mark.parametrize("name", REASONS)
def test_the_reason_says_what_happened(name: str) -> None:
    kind, events, _ = LIVES[name]
    decision = decision_of(run_of(events[:-2], kind=kind))
    assert decision.reasons == (REASONS[name],)
    assert not decision.intervals


def test_an_analysis_reports_what_was_measured_and_lands_nothing() -> None:
    kind, events, _ = LIVES["an analysis of something slower"]
    decision = decision_of(run_of(events[:-2], kind=kind))
    assert decision.reasons[0].startswith("finding recorded, no code lands; measured: n regresses: ")
    assert decision.intervals["n"].n == 3


# ------------------------------------------------------------------ free changes

UNCHANGED: tuple[Event, ...] = (BEGUN, PINNED, *SAME)
OWING = replace(COURSE, absent=("gpu",))
NO_OP = "the same code sections as the baseline on cpu, gfx; nothing was timed"


@pytest.mark.parametrize("kind", Kind)
def test_the_same_code_lands_for_a_simplification_alone(kind: Kind) -> None:
    decision = decision_of(run_of((*UNCHANGED, TESTED), kind=kind))
    if kind in (Kind.SIMPLIFY, Kind.INFRA):
        assert decision == Decision(
            verdict=Verdict.KEEP, reasons=("same machine code; nothing to time", "compared on cpu, gfx")
        )
    else:
        assert decision == Decision(verdict=Verdict.NO_OP, reasons=(NO_OP,))


def test_the_kind_makes_a_change_free_and_not_the_mode() -> None:
    simplifying = replace(PLAN, mode=Mode.SIMPLIFY)
    assert said(next_action(replace(run_of(UNCHANGED, kind=Kind.PERF), plan=simplifying))) == "settle NO-OP"
    assert said(next_action(run_of((*UNCHANGED, TESTED), kind=Kind.SIMPLIFY))) == "settle KEEP"


def test_a_free_change_is_tested_on_every_built_target_and_profiled_on_none() -> None:
    run = run_of(UNCHANGED, kind=Kind.SIMPLIFY, course=GUARDED)
    assert said(next_action(run)) == "test"
    run = advance(run, TESTED)
    assert said(next_action(run)) == "test gfx"
    assert said(next_action(advance(run, replace(TESTED, target="gfx")))) == "settle KEEP"
    assert said(next_action(advance(run, replace(TESTED, target="gfx", ok=False)))) == "settle REJECT"


def test_targets_that_could_not_be_built_are_debts_of_a_free_change() -> None:
    events: tuple[Event, ...] = (BEGUN, PINNED, *SAME[:2], BuildFailed(side=B, target="gfx", reason="asm"), TESTED)
    run = run_of(events, kind=Kind.SIMPLIFY, course=OWING)
    assert run.unbuilt() == ("gfx", "gpu")
    assert decision_of(run).reasons[1] == "compared on cpu; not built, an open debt: gfx, gpu"


def test_a_protocol_may_ask_that_every_target_was_built() -> None:
    strict = replace(OWING, free_simplify=FreeSimplify.ALL)
    decision = decision_of(run_of(UNCHANGED, kind=Kind.SIMPLIFY, course=strict))
    assert (decision.verdict, decision.reasons[0]) == (Verdict.NO_OP, NO_OP)
    assert decision.reasons[1].startswith("not built: gpu; keep.free_simplify: all asks for every target: propose it again ")
    everywhere = run_of((*UNCHANGED, TESTED), kind=Kind.SIMPLIFY, course=replace(strict, absent=()))
    assert decision_of(everywhere).verdict is Verdict.KEEP


def test_the_same_code_linked_by_other_names_is_not_free() -> None:
    renamed = replace(SAME[1], artifact=replace(SAME[1].artifact, image="else"))
    run = run_of((BEGUN, PINNED, SAME[0], renamed, *SAME[2:]), kind=Kind.SIMPLIFY)
    decision = decision_of(run)
    assert (decision.verdict, decision.reasons[0]) == (Verdict.NO_OP, NO_OP)
    assert decision.reasons[1].startswith("not free: names that the code is linked by differ on cpu; ")


def test_a_simplification_with_other_code_is_timed_as_ever() -> None:
    same_here: tuple[Event, ...] = (BEGUN, PINNED, *SAME[:2], *BUILDS[2:], TESTED)
    assert said(next_action(run_of(same_here, kind=Kind.SIMPLIFY))) == "settle INCONCLUSIVE"
    assert said(next_action(run_of((BEGUN, PINNED, *BUILDS, TESTED), kind=Kind.SIMPLIFY))) == "measure 0"


# ------------------------------------------------------------------ taints

MEASURING: tuple[Event, ...] = (BEGUN, PINNED, *BUILDS, TESTED)


def test_a_tainted_round_is_measured_again_and_never_averaged_in() -> None:
    events: list[Event] = [*MEASURING, *rounds(110_000, 2), measured(2, 100_000, 900_000, ("ncu",))]
    assert said(next_action(run_of(events))) == "measure 3"
    events.append(measured(3, 100_010, 110_000))
    run = run_of(events, profiles=False)
    assert said(next_action(run)) == "settle REJECT"
    assert decision_of(run).intervals["n"].n == 3
    assert decision_of(run).rounds == (0, 1, 3)


def test_two_rounds_or_a_quarter_may_be_tainted_and_no_more() -> None:
    two: list[Event] = [*MEASURING, *(measured(i, 100_000, 90_000, ("ncu",)) for i in range(2))]
    assert said(next_action(run_of(two))) == "measure 2"
    three: list[Event] = [*two, measured(2, 100_000, 90_000, ("rocprofv3",))]
    assert decision_of(run_of(three)) == Decision(
        verdict=Verdict.INVALID, reasons=("unstable: 3 rounds were tainted (ncu, rocprofv3)",)
    )
    late = [measured(i, 1, 1, ("ncu",)) for i in (9, 10, 11)]
    confirming: list[Event] = [*MEASURING, *rounds(90_000), *restless(6, 3, Session.CONFIRM), *late]
    assert said(next_action(run_of(confirming))) == "confirm 12"


@given(st.lists(st.booleans(), min_size=8, max_size=12))
def test_a_run_ends_after_three_clean_rounds_or_three_tainted_ones(taints: list[bool]) -> None:
    run = run_of(MEASURING, profiles=False)
    for index, tainted in enumerate(taints):
        action = next_action(run)
        clean = sum(not each for each in taints[:index])
        if clean >= 3 or index - clean > 2:
            assert said(action) == ("settle INVALID" if index - clean > 2 else "settle REJECT")
            return
        assert action == Measure(index, Session.SEARCH, 3 - clean)
        run = advance(run, measured(index, 100_000 + 10 * (index % 2), 110_000, ("ncu",) if tainted else ()))
    assert isinstance(next_action(run), Settle)


# ------------------------------------------------------------------ the run itself


def test_a_run_without_its_first_event_does_not_exist() -> None:
    with pytest.raises(ValueError, match="begins with Begun"):
        run_of(()).begun()


def test_the_deciding_target_comes_before_its_guards() -> None:
    assert run_of((BEGUN,)).targets() == ("cpu", "gfx")


def test_a_second_pin_replaces_the_first() -> None:
    moved = replace(PINNED, candidate="c2")
    assert run_of((BEGUN, PINNED, moved)).last(Pinned) == moved


def with_facts(built_: Built, **facts: float) -> Built:
    return replace(built_, artifact=replace(built_.artifact, facts=tuple(Fact(name=n, value=v) for n, v in facts.items())))


def guarded(baseline: Mapping[str, float], candidate: Mapping[str, float], *more: Event) -> Run:
    built_ = (*BUILDS[:2], with_facts(BUILDS[2], **baseline), with_facts(BUILDS[3], **candidate))
    return run_of((BEGUN, PINNED, *built_, *more), course=GUARDED)


FINE = {"spills": 0, "occupancy": 8}


@pytest.mark.parametrize(
    ("baseline", "candidate", "reasons"),
    [
        (FINE, {"spills": 3, "occupancy": 8}, ("gfx: spills 3, at most 0 is allowed (baseline 0); nothing was timed",)),
        (FINE, {"spills": 0, "occupancy": 6}, ("gfx: occupancy 6, at least 7 is needed (baseline 8); nothing was timed",)),
        (FINE, {"occupancy": 8}, ("gfx: spills is not known of this build, at most 0 is allowed; nothing was timed",)),
    ],
)
def test_the_resource_gate_rejects_before_any_test(
    baseline: dict[str, float], candidate: dict[str, float], reasons: tuple[str, ...]
) -> None:
    decision = decision_of(guarded(baseline, candidate))
    assert (decision.verdict, decision.reasons) == (Verdict.REJECT, reasons)


@pytest.mark.parametrize("candidate", [FINE, {"spills": 0, "occupancy": 7}, {"spills": 0, "occupancy": 12}])
def test_what_keeps_the_limits_is_tested(candidate: dict[str, float]) -> None:
    assert said(next_action(guarded(FINE, candidate))) == "test"


def test_a_baseline_that_breaks_a_limit_is_the_limit() -> None:
    assert said(next_action(guarded({"spills": 5, "occupancy": 8}, {"spills": 5, "occupancy": 8}))) == "test"


def test_a_guard_is_tested_after_the_deciding_target_and_its_failure_rejects() -> None:
    assert said(next_action(guarded(FINE, FINE, TESTED))) == "test gfx"
    passed = replace(TESTED, target="gfx")
    assert said(next_action(guarded(FINE, FINE, TESTED, passed))) == "measure 0"
    raced = replace(passed, ok=False, summary="race: line 8 and line 3")
    decision = decision_of(guarded(FINE, FINE, TESTED, raced))
    assert decision.verdict is Verdict.REJECT
    assert decision.reasons == ("test of gfx: race: line 8 and line 3; nothing was timed",)


def test_a_guard_with_the_same_code_is_neither_tested_nor_profiled() -> None:
    same = (*BUILDS[:3], replace(BUILDS[3], artifact=BUILDS[2].artifact))
    course = replace(GUARDED, limits={})
    assert said(next_action(run_of((BEGUN, PINNED, *same, TESTED), course=course))) == "measure 0"
    measured_: tuple[Event, ...] = (*rounds(90_000), *confirmed(90_000), profiled(B), profiled(C))
    assert said(next_action(run_of((BEGUN, PINNED, *same, TESTED, *measured_), course=course))) == "settle KEEP"


def test_a_kept_guard_is_profiled_on_both_sides() -> None:
    tested = (TESTED, replace(TESTED, target="gfx"))
    events: tuple[Event, ...] = (BEGUN, PINNED, *BUILDS, *tested, *rounds(90_000), *confirmed(90_000))
    course = replace(GUARDED, limits={})
    wanted = []
    for event in (profiled(B), profiled(C), replace(profiled(B), target="gfx"), replace(profiled(C), target="gfx")):
        wanted.append(said(next_action(run_of(events, course=course))))
        events = (*events, event)
    assert wanted == ["profile b", "profile c", "profile gfx b", "profile gfx c"]
    assert said(next_action(run_of(events, course=course))) == "settle KEEP"


def test_a_guard_whose_code_alone_changed_is_tested_and_profiled_and_leaves_the_question_open() -> None:
    same = (BUILDS[0], replace(BUILDS[1], artifact=BUILDS[0].artifact), *BUILDS[2:])
    course = replace(GUARDED, limits={})
    events: tuple[Event, ...] = (BEGUN, PINNED, *same)
    wanted = []
    for event in (
        TESTED,
        replace(TESTED, target="gfx"),
        replace(profiled(B), target="gfx"),
        replace(profiled(C), target="gfx"),
    ):
        wanted.append(said(next_action(run_of(events, course=course))))
        events = (*events, event)
    assert wanted == ["test", "test gfx", "profile gfx b", "profile gfx c"]
    assert said(next_action(run_of(events, course=course))) == "settle INCONCLUSIVE"
    assert "gfx" in decision_of(run_of(events, course=course)).reasons[0]
    raced = replace(TESTED, target="gfx", ok=False, summary="race")
    assert "test of gfx: race" in decision_of(run_of((*events[:6], TESTED, raced), course=course)).reasons[0]
