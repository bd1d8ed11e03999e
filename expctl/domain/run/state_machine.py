"""The state machine of a run: from the events so far it derives the next action. Pure.

A run is nothing but the events of its journal. `next_action` reads them from the start each time, so that a resumed run goes on
like one that was never interrupted, and a finished run finds nothing to do. The order of the steps is the order of the lines in
`next_action` and `_outcome`.
"""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from expctl.domain.experiment.control_result import ControlResult
from expctl.domain.experiment.free_change import FREE_KINDS, SAME_CODE
from expctl.domain.experiment.proposal import Kind, Verdict
from expctl.domain.experiment.record import Artifact
from expctl.domain.machine.burn_in import BurnIn
from expctl.domain.machine.first_run import FirstRun
from expctl.domain.protocol.model import FreeSimplify
from expctl.domain.run.actions import Action, Build, Measure, Nothing, Pin, Profile, Settle, Test
from expctl.domain.run.events import (
    Begun,
    BuildFailed,
    Built,
    Contradicted,
    Event,
    Invalidated,
    Measured,
    MeasureFailed,
    Pinned,
    Profiled,
    Published,
    Tested,
)
from expctl.domain.run.resource_limits import exceeded
from expctl.domain.run.target_roles import TargetRoles
from expctl.domain.verdict.judge import contradicted, judge
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import Sample, Side
from expctl.domain.verdict.sequential_test import Decision, MeasureMore

E_ = TypeVar("E_", bound=object)


class Run(Struct, frozen=True, kw_only=True):
    """The events of a run so far, in order, and what was fixed before them: kind, statistical plan and roles of targets.
    `before` are the samples of the undecided experiment that this run continues; empty if it continues none.
    """

    kind: Kind
    plan: Plan
    roles: TargetRoles
    before: tuple[Sample, ...] = ()
    events: tuple[Event, ...] = ()

    def all(self, kind: type[E_]) -> Iterator[E_]:
        """Return the events of one type, in order."""
        return (event for event in self.events if isinstance(event, kind))

    def last(self, kind: type[E_]) -> E_ | None:
        """Return the newest event of one type; None if there is none."""
        return next((event for event in reversed(self.events) if isinstance(event, kind)), None)

    def begun(self) -> Begun:
        """Return the first event, which says what is measured. Raises ValueError for a run without events."""
        event = self.last(Begun)
        if event is None:
            raise ValueError("a run begins with Begun")
        return event

    def artifact(self, side: Side, target: str) -> Artifact | None:
        """Return the build of baseline or candidate for one target; None if it was not built."""
        return next((b.artifact for b in self.all(Built) if (b.side, b.target) == (side, target)), None)

    def build_failure(self, side: Side, target: str) -> BuildFailed | None:
        """Return the failed build of baseline or candidate for one target; None if it didn't fail."""
        return next((b for b in self.all(BuildFailed) if (b.side, b.target) == (side, target)), None)

    def samples(self) -> tuple[Sample, ...]:
        """Return the samples of all complete rounds, after those of the undecided experiment that the run continues, if any."""
        return (*self.before, *(sample for measured in self.all(Measured) for sample in measured.samples))

    def control(self) -> ControlResult | None:
        """Return what the newest control of the measuring path has shown; None if the target has none."""
        return next((each.control for each in reversed(tuple(self.all(Measured))) if each.control is not None), None)

    def burn_ins(self) -> tuple[BurnIn, ...]:
        """Return how the burn-ins of this run ended: one for each time that a confirmation began or went on."""
        return tuple(measured.burn_in for measured in self.all(Measured) if measured.burn_in is not None)

    def first_runs(self) -> tuple[FirstRun, ...]:
        """Return what the first runs with a cold cache of a compiler cost."""
        return tuple(each for measured in self.all(Measured) for each in measured.first_runs)

    def next_round(self) -> int:
        """Return the number of the round to be measured next."""
        return 1 + max((sample.round for sample in self.before), default=-1) + sum(1 for _ in self.all(Measured))

    def targets(self) -> tuple[str, ...]:
        """Return the target whose timing decides the verdict, followed by those that need only build and pass their tests."""
        return (self.begun().target, *self.begun().guards)

    def built(self) -> tuple[str, ...]:
        """Return those of `targets` for which the candidate was built."""
        return tuple(target for target in self.targets() if self.artifact(Side.CANDIDATE, target))

    def unbuilt(self) -> tuple[str, ...]:
        """Return the protocol's targets whose machine code was not compared, because a side could not be built."""
        return (*(target for target in self.targets() if target not in self.built()), *self.roles.absent)


def advance(run: Run, event: Event) -> Run:
    """Return `run` with one more event."""
    return replace(run, events=(*run.events, event))


def next_action(run: Run) -> Action:
    """Return the next action of a run. It depends on the events alone, so one that a crash interrupted is returned again."""
    if run.last(Published) is not None:
        return Nothing()
    if run.last(Pinned) is None and run.last(Invalidated) is None:
        return Pin()
    step = _outcome(run)
    if not isinstance(step, Decision):
        return step
    was_timed = bool(step.intervals)
    explains = was_timed if step.verdict is Verdict.KEEP else step.verdict is Verdict.INCONCLUSIVE and not was_timed
    profile = _next_profile(run) if explains else None
    return profile or Settle(step)


def code_is_unchanged(run: Run, target: str) -> bool:
    """Do baseline and candidate have the same machine code on `target`? False if either is not built."""
    baseline, candidate = run.artifact(Side.BASELINE, target), run.artifact(Side.CANDIDATE, target)
    return baseline is not None and candidate is not None and baseline.code == candidate.code


def is_unchanged(run: Run, target: str) -> bool:
    """Do baseline and candidate have the same machine code and symbol names on `target`? False if either is not built."""
    baseline, candidate = run.artifact(Side.BASELINE, target), run.artifact(Side.CANDIDATE, target)
    same_image = baseline is not None and candidate is not None and baseline.image == candidate.image
    return same_image and code_is_unchanged(run, target)


def _outcome(run: Run) -> Build | Test | Measure | Decision:
    """Return the next build, test or round; once none is left, the verdict."""
    invalid = run.last(Invalidated)
    if invalid is not None:
        return _without_samples(Verdict.INVALID, invalid.reason)
    build = _next_build(run)
    if build is not None:
        return build
    if all(code_is_unchanged(run, target) for target in run.built()):
        return _same_code(run)
    tests = [target for target in run.roles.tests if _matters(run, target)]
    gate = None if run.begun().extends else _over_limits(run) or _next_test(run, tests)  # the same builds have passed both
    if gate is not None:
        return gate
    if code_is_unchanged(run, run.begun().target):
        return _left_open(run)
    failed = run.last(MeasureFailed)
    if failed is not None:
        verdict = Verdict.REJECT if failed.blames_candidate else Verdict.INVALID
        return _without_samples(verdict, f"benchmark: {failed.reason}")
    return _judge_samples(run)


def _next_build(run: Run) -> Build | Decision | None:
    """Return the next build, or the verdict after a failed one; None when all builds are done. A target that isn't timed is
    skipped if its baseline doesn't build.
    """
    for target in run.targets():
        for side in (Side.BASELINE, Side.CANDIDATE):
            failure = run.build_failure(side, target)
            if failure is not None and side is Side.CANDIDATE:
                return _without_samples(Verdict.REJECT, f"does not build for {target}: {failure.reason}; nothing was timed")
            if failure is not None and target == run.begun().target:
                return _without_samples(Verdict.INVALID, f"the baseline does not build for {target}: {failure.reason}")
            if failure is not None:
                break
            if run.artifact(side, target) is None:
                return Build(side, target)
    return None


def _over_limits(run: Run) -> Decision | None:
    broken = []
    for target, limits in run.roles.limits.items():
        candidate = run.artifact(Side.CANDIDATE, target)
        if candidate is not None:
            found = exceeded(limits, run.artifact(Side.BASELINE, target), candidate)
            broken += [f"{target}: {each}; nothing was timed" for each in found]
    return Decision(verdict=Verdict.REJECT, reasons=tuple(broken)) if broken else None


def wrong_results(run: Run) -> tuple[str, ...]:
    """Return what failed tests said, if the run is an analysis: its candidate never lands, so it may compute nonsense and is
    timed all the same.
    """
    if run.kind is not Kind.ANALYSIS:
        return ()
    return tuple(_said(run, tested) for tested in run.all(Tested) if not tested.ok and not tested.fault)


def _said(run: Run, tested: Tested) -> str:
    where = "test" if tested.target in ("", run.begun().target) else f"test of {tested.target}"
    return f"{where}: {tested.summary}"


def _next_test(run: Run, wanted: Sequence[str]) -> Test | Decision | None:
    """Return the next test of the targets `wanted`, or the verdict after a failed one; None when all have passed, or failed in
    an analysis.
    """
    done = {tested.target or run.begun().target: tested for tested in run.all(Tested)}
    for target in wanted:
        if target not in done:
            return Test(target)
        tested = done.get(target)
        if tested is not None and not tested.ok and (tested.fault or run.kind is not Kind.ANALYSIS):
            verdict = Verdict.INVALID if tested.fault else Verdict.REJECT
            return _without_samples(verdict, f"{_said(run, tested)}; nothing was timed")
    return None


def _next_profile(run: Run) -> Profile | None:
    done = {(profiled.target or run.begun().target, profiled.side) for profiled in run.all(Profiled)}
    wanted = ((target, side) for target in run.roles.profiles if _is_changed(run, target) for side in Side)
    return next((Profile(side, target) for target, side in wanted if (target, side) not in done), None)


def _matters(run: Run, target: str) -> bool:
    """Must `target` be tested before timing? The timed target always, any other one only if its machine code changed."""
    return target == run.begun().target or _is_changed(run, target)


def _is_changed(run: Run, target: str) -> bool:
    return all(run.artifact(side, target) for side in Side) and not code_is_unchanged(run, target)


def _same_code(run: Run) -> Test | Decision:
    """Return the verdict if the machine code of every built target is the baseline's: NO-OP, or KEEP for a simplification.
    Before that KEEP, the tests of all built targets are returned one by one, because a harness may use files besides the build.
    """
    built, unbuilt = ", ".join(run.built()), ", ".join(run.unbuilt())
    no_op = f"the same code sections as the baseline on {built}; nothing was timed"
    if run.kind not in FREE_KINDS:
        return _without_samples(Verdict.NO_OP, no_op)
    renamed = ", ".join(target for target in run.built() if not is_unchanged(run, target))
    if renamed:
        hint = f"not free: names that the code is linked by differ on {renamed}; keep the names of functions that others see"
        return Decision(verdict=Verdict.NO_OP, reasons=(no_op, hint))
    if unbuilt and run.roles.free_simplify is FreeSimplify.ALL:
        hint = (
            f"not built: {unbuilt}; keep.free_simplify: all asks for every target: propose it again where they build,"
            " or set it to built"
        )
        return Decision(verdict=Verdict.NO_OP, reasons=(no_op, hint))
    tests = [target for target in run.roles.tests if target in run.built()]
    owed = f"; not built, an open debt: {unbuilt}" if unbuilt else ""
    free = Decision(verdict=Verdict.KEEP, reasons=(SAME_CODE, f"compared on {built}{owed}"))
    return _next_test(run, tests) or free


def _left_open(run: Run) -> Decision:
    """Return INCONCLUSIVE, because only targets that are not timed have changed code: timing would compare equal builds."""
    decider = run.begun().target
    changed = ", ".join(target for target in run.targets() if _is_changed(run, target))
    return _without_samples(
        Verdict.INCONCLUSIVE, f"the same code on {decider}, which can't decide; other code on {changed}; nothing was timed"
    )


def _judge_samples(run: Run) -> Measure | Decision:
    answer = judge(run.samples(), run.plan, run.kind)
    if isinstance(answer, MeasureMore):
        return Measure(run.next_round(), answer.session, answer.rounds_left)
    against = run.last(Contradicted)
    return contradicted(answer, against.why if against is not None else "")


def _without_samples(verdict: Verdict, reason: str) -> Decision:
    return Decision(verdict=verdict, reasons=(reason,))
