"""Compare two commits in rounds like those of a run, judged by the same rule. Nothing is committed."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from expctl.domain.errors import Interrupted
from expctl.domain.experiment.proposal import Kind, Mode
from expctl.domain.experiment.record import OBJECTIVE, Artifact
from expctl.domain.history.audit import CommitComparison
from expctl.domain.history.kept_changes import Promise, beyond_promise
from expctl.domain.protocol.model import Benchmark, Protocol
from expctl.domain.run.step_result import Failed
from expctl.domain.verdict.calibration import Calibration
from expctl.domain.verdict.judge import estimates_of, judge
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import Sample, Session, Side
from expctl.domain.verdict.sequential_test import Decision, MeasureMore
from expctl.flow.measuring.measure_round import measure_round
from expctl.flow.run.perform import CHECK_OUT
from expctl.ports.context import Context, Tools


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparator:
    """Compares commits on one target with protocol and harness of the commit `head`."""

    context: Context
    protocol: Protocol
    tools: Tools
    head: str
    target: str

    @property
    def benchmark(self) -> Benchmark:
        """Return the target's benchmark, which `inconsistencies` has made sure exists."""
        benchmark = self.protocol.targets[self.target].benchmark
        if benchmark is None:
            raise TypeError(f"{self.target} decides without a benchmark")
        return benchmark

    def plan(self, mode: Mode) -> Plan:
        """Return the statistical plan, with the stored calibration if there is one."""
        found = self.context.calibrations.read(self.target, self.benchmark)
        calibrated = found.fixed() if isinstance(found, Calibration) else None
        return Plan.of(self.benchmark, self.protocol.keep, mode, calibrated=calibrated)


def compare_commits(
    comparator: Comparator, before: str, after: str, *, name: str, promises: Mapping[str, Promise] | None = None
) -> CommitComparison:
    """Measure whether `after` is faster than `before`; with `promises`, whether it keeps them within a simplification's budget.

    Raises Busy if the machine can't be locked, Interrupted if a stop was requested.
    """
    built = {}
    for side, commit in ((Side.BASELINE, before), (Side.CANDIDATE, after)):
        made = _build(comparator, commit, side)
        if isinstance(made, Failed):
            note = f"{commit[:10]} does not build for {comparator.target}: {made.reason}"
            return _untimed(comparator, name, CommitComparison(before=before, after=after, note=note))
        built[side] = made
    if len({artifact.code for artifact, _ in built.values()}) == 1 and not promises:
        return _untimed(
            comparator, name, CommitComparison(before=before, after=after, note="the same machine code; nothing was timed")
        )
    samples = _measured(comparator, {side: path for side, (_, path) in built.items()}, promises or {}, name)
    if isinstance(samples, Failed):
        return _untimed(comparator, name, CommitComparison(before=before, after=after, note=f"benchmark: {samples.reason}"))
    decision = _judged(comparator, samples, promises or {})
    if not isinstance(decision, Decision):
        raise TypeError("a contest ended before its decision")
    estimates = estimates_of(decision, beyond_promise(samples, promises or {}), comparator.benchmark.sizes)
    promise = (promises or {}).get(OBJECTIVE)
    beyond = f" against {promise.words} (times are stretched by what of it is sure: zero is as promised)" if promise else ""
    comparator.context.progress.step(name, f"{decision.verdict}{beyond}: {decision.reasons[0]}")
    return CommitComparison(before=before, after=after, verdict=decision.verdict, reasons=decision.reasons, estimates=estimates)


def _build(comparator: Comparator, commit: str, side: Side) -> tuple[Artifact, Path] | Failed:
    context, target = comparator.context, comparator.protocol.targets[comparator.target]
    context.progress.working("build", f"{comparator.target}, {commit[:10]}")
    tree = context.workspace.check_out(commit, CHECK_OUT[side], sealed=comparator.protocol.harness)
    with comparator.tools.gate.working():
        made = comparator.tools.toolchains.build(
            comparator.target, target, tree=tree, sources=context.workspace.source_identity(commit)
        )
    path = None if isinstance(made, Failed) else comparator.tools.toolchains.path(target, made)
    if isinstance(made, Failed) or path is None:
        return made if isinstance(made, Failed) else Failed(reason="the build's file is gone or was changed")
    return made, path


def _measured(
    comparator: Comparator, artifacts: Mapping[Side, Path], promises: Mapping[str, Promise], name: str
) -> tuple[Sample, ...] | Failed:
    """Measure rounds until the plan decides. The machine is released and locked again before the confirmation."""
    samples: list[Sample] = []
    for session in Session:
        found = _session(comparator, session, samples, artifacts, promises, name)
        if isinstance(found, Failed):
            return found
    return tuple(samples)


def _session(
    comparator: Comparator,
    session: Session,
    samples: list[Sample],
    artifacts: Mapping[Side, Path],
    promises: Mapping[str, Promise],
    name: str,
) -> Failed | None:
    """Append the rounds of one session to `samples`; none if the plan has decided or wants the other session."""
    answer = _judged(comparator, samples, promises)
    if isinstance(answer, Decision) or answer.session is not session:
        return None
    context = comparator.context
    cwd = context.workspace.check_out(comparator.head, CHECK_OUT[Side.BASELINE], sealed=comparator.protocol.harness)
    context.progress.working("gate", "waiting for a quiet machine")
    with comparator.tools.gate.measuring(comparator.protocol.targets[comparator.target]):
        try:
            while not isinstance(answer, Decision) and answer.session is session:
                number = samples[-1].round + 1 if samples else 0
                found = measure_round(
                    context, comparator.tools, comparator.benchmark, cwd=cwd, artifacts=artifacts, number=number
                )
                if isinstance(found, Failed):
                    return found
                samples += (replace(each, session=session) for each in found)
                context.progress.advance(f"{name} {session}", number + 1, number + answer.rounds_left)
                answer = _judged(comparator, samples, promises)
                if context.stop_requested() and not isinstance(answer, Decision):
                    raise Interrupted(
                        f"stopped after round {number + 1} of an audit; it keeps nothing, the same command starts over"
                    )
        finally:
            comparator.tools.steps.close()
    return None


def _judged(
    comparator: Comparator, samples: list[Sample] | tuple[Sample, ...], promises: Mapping[str, Promise]
) -> Decision | MeasureMore:
    plan = comparator.plan(Mode.SIMPLIFY if promises else Mode.GAIN)
    return judge(beyond_promise(samples, promises), plan, Kind.PERF)


def _untimed(comparator: Comparator, name: str, found: CommitComparison) -> CommitComparison:
    comparator.context.progress.step(name, found.note)
    return found
