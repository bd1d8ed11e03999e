"""Made-up attempts of a fleet at the queued experiments of a repository: nothing is built or timed."""

import subprocess
import tempfile
from io import StringIO
from pathlib import Path

from expctl import wiring
from expctl.adapters.git.reader import locate
from expctl.domain.experiment.proposal import Kind, Mode
from expctl.domain.experiment.record import Artifact
from expctl.domain.fleet.events import Assigned, Judged
from expctl.domain.machine.walls import Walls
from expctl.domain.protocol.model import Benchmark, Style
from expctl.domain.run.events import Begun, Built, Event, Measured, Pinned, Tested
from expctl.domain.verdict.judge import judge
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import Sample, Session, Side
from expctl.domain.verdict.sequential_test import MeasureMore
from expctl.flow.fleet.landing import Attempt
from expctl.flow.measuring.setup import benchmark_of
from expctl.flow.repository import preflight
from expctl.flow.repository.commit_messages import candidate_message
from expctl.flow.run.open_run import proposer_of
from expctl.ports.context import Context
from expctl.views.console import ConsoleProgress

TARGET, DEVICE = "here", "d1"


def attempts_at(repository: Path, *, slower_percent: float = 3.0) -> list[Attempt]:
    """Return an attempt at each experiment that has no record, in the order of the queue. Candidates are made in a clone, as by
    a worker: the repository has none of them.
    """
    with tempfile.TemporaryDirectory(prefix="fleet-worker-") as folder:
        subprocess.run(["git", "clone", "-q", repository, folder], check=True)
        context = context_of(Path(folder))
        known = context.library.experiments(context.workspace.head())
        return [_attempt(context, name, slower_percent) for name, verdict in known.items() if verdict is None]


def context_of(repository: Path) -> Context:
    """Return what a command in the repository works with; it says nothing."""
    return wiring.context(locate(repository), ConsoleProgress(StringIO()))


def _attempt(context: Context, experiment: str, slower_percent: float) -> Attempt:
    workspace, base = context.workspace, context.workspace.head()
    protocol, queued = context.library.protocol(base), context.library.queued(base, experiment)
    begun = Begun(
        id=experiment,
        target=TARGET,
        guards=(),
        absent=tuple(name for name in protocol.targets if name != TARGET),
        base=base,
        branch=workspace.branch(),
        content=queued.content,
        again=False,
        date="2026-10-01T00:00:00Z",
        device=DEVICE,
    )
    tree = preflight.check_patch(workspace, protocol, base, queued)
    author, message = proposer_of(workspace, queued, begun), candidate_message(queued.proposal, TARGET)
    candidate = workspace.pin(base=base, tree=tree, message=message, ref=f"refs/expctl/{experiment}", author=author)
    events: list[Event] = [begun, Pinned(candidate=candidate, tree=tree, patch_id=candidate)]
    for letter, side in zip("0f", Side, strict=True):
        artifact = Artifact(sha256=64 * letter, code=64 * letter)
        events.append(Built(side=side, target=TARGET, artifact=artifact, duration_s=1.0))
    events.append(Tested(ok=True, fault=False, cases=1, summary="1 case passes", duration_s=1.0))
    benchmark = benchmark_of(protocol, TARGET)
    events += _rounds(benchmark, Plan.of(benchmark, protocol.keep, Mode.GAIN), slower_percent)
    assigned = Assigned(id=experiment, attempt=1, device=DEVICE, kind="cpu", worker="w", base=base, kernel="")
    return Attempt(assigned=assigned, run=tuple(events), judged=Judged(facts={"cpu": "made up"}, walls=Walls()))


def _rounds(benchmark: Benchmark, plan: Plan, slower_percent: float) -> list[Event]:
    samples: list[Sample] = []
    measured: list[Event] = []
    while isinstance(answer := judge(samples, plan, Kind.PERF), MeasureMore):
        number = len(measured)
        one = _round(benchmark, number, answer.session, slower_percent)
        samples += one
        measured.append(Measured(round=number, samples=one))
    return measured


def _round(benchmark: Benchmark, number: int, session: Session, slower_percent: float) -> tuple[Sample, ...]:
    fine = benchmark.style is Style.FINE
    launches = [(0, side) for side in Side] if fine else list(enumerate((*Side, *reversed(Side))))
    times = 2 * benchmark.iterations * benchmark.quads if fine else benchmark.iterations
    return tuple(
        Sample(
            round=number,
            launch=launch,
            side=side,
            size=size.name,
            style=benchmark.style,
            visit=benchmark.iterations,
            ns=(1_000_000 + 900 * (number % 3) + round(10_000 * slower_percent) * (side is Side.CANDIDATE),) * times,
            order="ABBA",
            session=session,
            round_ms=1000,
            device=DEVICE,
        )
        for launch, side in launches
        for size in benchmark.sizes
    )
