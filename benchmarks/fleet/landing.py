"""What it costs the head of a fleet to land one experiment, by the very code, in a repository with a history.

The repository is that of `benchmarks.scale.generate`; the attempts at its queued experiments are made up, as REJECTs of a few
rounds each, which is what most experiments end as. Nothing is built or timed.
"""

import os
import resource
import time
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

from msgspec import Struct

from benchmarks.fleet.made_up import attempts_at, context_of
from benchmarks.scale.generate import generate
from expctl.domain.experiment.proposal import Verdict
from expctl.flow.fleet.landing import land, land_together


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
        attempts = attempts_at(folder / "repository")
        context = context_of(folder / "repository")
        land(context, attempts.pop(0))  # the first one makes the index
        found = dict.fromkeys(together, Cost(cpu_ms=0.0, wall_ms=0.0))
        for size in batches:
            batch = [attempts.pop(0) for _ in range(size)]
            wall_s, cpu_s = time.perf_counter(), _cpu_s()
            outcomes = [land(context, batch[0])] if size == 1 else [*land_together(context, batch).values()]
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
