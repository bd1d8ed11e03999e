"""What it costs the head of a fleet to land one experiment, by the very code, in a repository with a history.

The repository is that of `benchmarks.scale.generate`; the attempts at its queued experiments are made up, as REJECTs of a few
rounds each, which is what most experiments end as. Nothing is built or timed.
"""

import os
import resource
import time
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from unittest.mock import patch

from msgspec import Struct

from benchmarks.scale.generate import generate
from expctl import wiring
from expctl.adapters.git.reader import locate
from expctl.domain.experiment.proposal import Kind, Mode, Verdict
from expctl.domain.experiment.record import Artifact
from expctl.domain.fleet.events import Assigned, Judged
from expctl.domain.machine.walls import Walls
from expctl.domain.protocol.model import Benchmark, Style
from expctl.domain.run.events import Begun, Built, Event, Measured, Pinned, Tested
from expctl.domain.verdict.judge import judge
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import Sample, Session, Side
from expctl.domain.verdict.sequential_test import Decision
from expctl.flow.fleet.landing import Attempt, land, land_together
from expctl.flow.measuring.setup import benchmark_of
from expctl.flow.repository import preflight
from expctl.flow.repository.commit_messages import candidate_message
from expctl.flow.run.open_run import proposer_of
from expctl.ports.context import Context
from expctl.views.console import ConsoleProgress

TARGET, DEVICE = "here", "d1"


class Cost(Struct, frozen=True, kw_only=True):
    """Milliseconds for each experiment: of the processors, with git's, and by the clock."""

    cpu_ms: float
    wall_ms: float


def landing_cost(folder: Path, *, history: int, count: int, together: Sequence[int] = (1,)) -> dict[int, Cost]:
    """Land experiments in a new repository below `folder` with `history` records, so many `together` at a time: at least
    `count` for each of those numbers. Return what one experiment costs, by how many landed with it.
    """
    batches = [size for size in sorted(together, reverse=True) for _ in range(-(-count // size))]
    generate(folder / "repository", experiments=history, queued=1 + sum(batches), findings=10, seed=1)
    home = folder / "home"
    home.mkdir()
    with patch.dict(os.environ, {"HOME": str(home), "EXPCTL_LOCK_DIR": str(home)}):
        context = wiring.context(locate(folder / "repository"), ConsoleProgress(StringIO()))
        waiting = context.library.waiting(context.workspace.head())
        attempts = [_rejected(context, name) for name in waiting]
        context = wiring.context(locate(folder / "repository"), ConsoleProgress(StringIO()))  # knows nothing of the attempts
        land(context, attempts.pop(0))  # the first one makes the index
        found = dict.fromkeys(together, Cost(cpu_ms=0.0, wall_ms=0.0))
        for size in batches:
            batch = [attempts.pop(0) for _ in range(size)]
            wall_s, cpu_s = time.perf_counter(), _cpu_s()
            if size == 1:
                outcomes = [land(context, each) for each in batch]
            else:
                outcomes = [*land_together(context, batch).values()]
            cpu_s, wall_s = _cpu_s() - cpu_s, time.perf_counter() - wall_s
            if [outcome and outcome.record.verdict for outcome in outcomes] != [Verdict.REJECT] * size:
                raise RuntimeError(f"{size} experiments were to land as a REJECT each, beginning with {batch[0].assigned.id}")
            share = 1000 / size / batches.count(size)
            before = found[size]
            found[size] = Cost(cpu_ms=before.cpu_ms + share * cpu_s, wall_ms=before.wall_ms + share * wall_s)
        return found


def _cpu_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def _rejected(context: Context, experiment: str) -> Attempt:
    """Return an attempt whose candidate is 3 % slower."""
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
    events += _rounds(benchmark_of(protocol, TARGET), Plan.of(benchmark_of(protocol, TARGET), protocol.keep, Mode.GAIN))
    assigned = Assigned(id=experiment, attempt=1, device=DEVICE, kind="cpu", worker="w", base=base, kernel="")
    return Attempt(assigned=assigned, run=tuple(events), judged=Judged(facts={"cpu": "made up"}, walls=Walls()))


def _rounds(benchmark: Benchmark, plan: Plan) -> list[Event]:
    samples: list[Sample] = []
    measured: list[Event] = []
    while not isinstance(judge(samples, plan, Kind.PERF), Decision):
        number = len(measured)
        one = _round(benchmark, number)
        samples += one
        measured.append(Measured(round=number, samples=one))
    return measured


def _round(benchmark: Benchmark, number: int) -> tuple[Sample, ...]:
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
            ns=(1_000_000 + 900 * (number % 3) + 30_000 * (side is Side.CANDIDATE),) * times,
            order="ABBA",
            session=Session.SEARCH,
            round_ms=1000,
            device=DEVICE,
        )
        for launch, side in launches
        for size in benchmark.sizes
    )
