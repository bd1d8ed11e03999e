"""Compare two commits in rounds like those of a run, judged by the same rule. Nothing is committed."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from expctl.domain.errors import Interrupted
from expctl.domain.experiment.proposal import Kind, Mode
from expctl.domain.experiment.record import OBJECTIVE
from expctl.domain.history.audit import SAME_CODE, CommitComparison
from expctl.domain.history.kept_changes import Promise, beyond_promise
from expctl.domain.run.step_result import Failed
from expctl.domain.verdict.calibration import Calibration
from expctl.domain.verdict.judge import estimates_of, judge
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import Sample, Session, Side
from expctl.domain.verdict.sequential_test import Decision, MeasureMore
from expctl.flow.measuring.control import show_control
from expctl.flow.measuring.measure_round import measure_round
from expctl.flow.measuring.setup import Setup


def compare_commits(
    setup: Setup, before: str, after: str, *, name: str, promises: Mapping[str, Promise] | None = None
) -> CommitComparison:
    """Measure whether the commit `after` is faster than `before`, on the target of `setup`; `name` labels the progress output.

    With `promises` (recorded gain by size) measure whether `after` is faster by those gains, or falls short by no more than a
    simplification may lose. Raises Busy if the machine can't be locked, Interrupted if a stop was requested.
    """
    promises = promises or {}

    def untimed(note: str) -> CommitComparison:
        setup.context.progress.step(name, note)
        return CommitComparison(before=before, after=after, note=note)

    built = {}
    for side, commit in ((Side.BASELINE, before), (Side.CANDIDATE, after)):
        setup.context.progress.working("build", f"{setup.name}, {commit[:10]}")
        made = setup.build(commit, setup.check_out(commit, side))
        if isinstance(made, Failed):
            return untimed(f"{commit[:10]} does not build for {setup.name}: {made.reason}")
        built[side] = made
    if len({artifact.code for artifact, _ in built.values()}) == 1 and not promises:
        return untimed(SAME_CODE)
    samples = _measured(setup, {side: paths for side, (_, paths) in built.items()}, promises, name)
    if isinstance(samples, Failed):
        return untimed(f"benchmark: {samples.reason}")
    decision = _judged(setup, samples, promises)
    if not isinstance(decision, Decision):
        raise TypeError("a comparison ended before its decision")
    estimates = estimates_of(decision, beyond_promise(samples, promises), setup.benchmark.sizes)
    promise = promises.get(OBJECTIVE)
    beyond = f" against {promise.words} (times are stretched by what of it is sure: zero is as promised)" if promise else ""
    setup.context.progress.step(name, f"{decision.verdict}{beyond}: {decision.reasons[0]}")
    return CommitComparison(before=before, after=after, verdict=decision.verdict, reasons=decision.reasons, estimates=estimates)


def _measured(
    setup: Setup, artifacts: Mapping[Side, Sequence[Path]], promises: Mapping[str, Promise], name: str
) -> tuple[Sample, ...] | Failed:
    """Measure rounds of search, then of confirmation, until the statistical plan decides; the machine is unlocked between."""
    show_control(setup, then="nothing was compared")
    samples: list[Sample] = []
    for session in Session:
        found = _session(setup, session, samples, artifacts, promises, name)
        if isinstance(found, Failed):
            return found
    return tuple(samples)


def _session(
    setup: Setup,
    session: Session,
    samples: list[Sample],
    artifacts: Mapping[Side, Sequence[Path]],
    promises: Mapping[str, Promise],
    name: str,
) -> Failed | None:
    answer = _judged(setup, samples, promises)
    if isinstance(answer, Decision) or answer.session is not session:
        return None
    context, cwd = setup.context, setup.check_out(setup.head, Side.BASELINE)
    context.progress.working("gate", "waiting for a quiet machine")
    with setup.tools.gate.measuring(setup.target):
        try:
            while not isinstance(answer, Decision) and answer.session is session:
                number = samples[-1].round + 1 if samples else 0
                found = measure_round(context, setup.tools, setup.benchmark, cwd=cwd, artifacts=artifacts, number=number)
                if isinstance(found, Failed):
                    return found
                samples += (replace(each, session=session) for each in found)
                context.progress.advance(f"{name} {session}", number + 1, number + answer.rounds_left)
                answer = _judged(setup, samples, promises)
                if context.stop_requested() and not isinstance(answer, Decision):
                    raise Interrupted(
                        f"stopped after round {number + 1} of an audit; nothing is kept, the same command starts over"
                    )
        finally:
            setup.tools.steps.close()
    return None


def _judged(
    setup: Setup, samples: list[Sample] | tuple[Sample, ...], promises: Mapping[str, Promise]
) -> Decision | MeasureMore:
    stored = setup.context.calibrations.read(setup.name, setup.benchmark)
    calibrated = stored.fixed() if isinstance(stored, Calibration) else None
    mode = Mode.SIMPLIFY if promises else Mode.GAIN
    plan = Plan.of(setup.benchmark, setup.protocol.keep, mode, calibrated=calibrated)
    return judge(beyond_promise(samples, promises), plan, Kind.PERF)
