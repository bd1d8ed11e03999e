"""Compare two commits in rounds like those of a run, decided by the same rule. Nothing is committed."""

from collections.abc import Mapping, Sequence
from functools import partial

from expctl.domain.experiment.proposal import Kind, Mode
from expctl.domain.experiment.record import OBJECTIVE
from expctl.domain.history.audit import SAME_CODE, CommitComparison
from expctl.domain.history.kept_changes import Promise, beyond_promise
from expctl.domain.run.step_result import Failed
from expctl.domain.verdict.calibration import Calibration
from expctl.domain.verdict.judge import estimates_of, judge
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import Sample, Side
from expctl.domain.verdict.sequential_test import Decision, MeasureMore
from expctl.flow.measuring.compare_builds import build_sides, measure_sessions
from expctl.flow.measuring.setup import Setup


def compare_commits(
    setup: Setup, before: str, after: str, *, name: str, promises: Mapping[str, Promise] | None = None
) -> CommitComparison:
    """Measure whether the commit `after` is faster than `before`, on the target of `setup`; `name` labels the progress output.

    With `promises` (recorded gain by size), measure instead whether `after` is faster by those gains; it may fall short by as
    much as a simplification may lose. Raises Busy if the machine can't be locked, Interrupted if a stop was requested.
    """
    promises = promises or {}

    def untimed(note: str) -> CommitComparison:
        setup.context.progress.step(name, note)
        return CommitComparison(before=before, after=after, note=note)

    built = build_sides(setup, {Side.BASELINE: before, Side.CANDIDATE: after})
    if isinstance(built, Failed):
        return untimed(built.reason)
    if len({artifact.code for artifact, _ in built.values()}) == 1 and not promises:
        return untimed(SAME_CODE)
    artifacts = {side: paths for side, (_, paths) in built.items()}
    measured = measure_sessions(setup, artifacts, partial(_judged, setup, promises), name)
    if isinstance(measured, Failed):
        return untimed(measured.reason)
    samples, decision = measured
    estimates = estimates_of(decision, beyond_promise(samples, promises), setup.benchmark.sizes)
    promise = promises.get(OBJECTIVE)
    beyond = f" against {promise.words} (times are stretched by what of it is sure: zero is as promised)" if promise else ""
    setup.context.progress.step(name, f"{decision.verdict}{beyond}: {decision.reasons[0]}")
    return CommitComparison(before=before, after=after, verdict=decision.verdict, reasons=decision.reasons, estimates=estimates)


def _judged(setup: Setup, promises: Mapping[str, Promise], samples: Sequence[Sample]) -> Decision | MeasureMore:
    stored = setup.context.calibrations.read(setup.name, setup.benchmark)
    calibrated = stored.fixed() if isinstance(stored, Calibration) else None
    mode = Mode.SIMPLIFY if promises else Mode.GAIN
    plan = Plan.of(setup.benchmark, setup.protocol.keep, mode, calibrated=calibrated)
    return judge(beyond_promise(samples, promises), plan, Kind.PERF)
