"""`run --all`: go on by itself until the queue is empty, a budget ends or something unrecoverable happens."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from expctl.domain.errors import Busy, Refused
from expctl.domain.experiment import Verdict
from expctl.domain.queue import waiting
from expctl.flow.run import Outcome, run_experiment
from expctl.flow.world import World

INVALID_RETRIES = 2
BUSY_PAUSE_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """When to stop: after so many concluded experiments, after so many hours. 0 is no limit."""

    experiments: int = 0
    hours: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A queued experiment that could not be run, and why. The queue goes on."""

    id: str
    refusal: Refused


def run_all(
    world: World, *, target: str, budget: Budget, pause: Callable[[float], None] = time.sleep
) -> Iterator[Outcome | Skipped]:
    """Run what is queued, oldest id first, reading the queue again after each. Busy is waited out, INVALID retried twice."""
    started_s = world.clock.monotonic_s()
    skipped: set[str] = set()
    concluded = 0
    while not world.stop_requested():
        head = world.workspace.head()
        records = world.library.records(head)
        spent = {record.id for record in records if record.verdict is Verdict.INVALID and record.attempts > INVALID_RETRIES}
        left = [each for each in waiting(world.library.proposals(head), records) if each.id not in skipped | spent]
        spent_h = (world.clock.monotonic_s() - started_s) / 3600
        if not left or (budget.experiments and concluded >= budget.experiments) or (budget.hours and spent_h >= budget.hours):
            return
        experiment = left[0].id
        try:
            outcome = run_experiment(world, experiment, target=target)
        except Busy:
            pause(BUSY_PAUSE_S)
            continue
        except Refused as refusal:
            skipped.add(experiment)
            yield Skipped(id=experiment, refusal=refusal)
            continue
        concluded += outcome.record.verdict is not Verdict.INVALID
        skipped.clear()  # a KEEP may have met a dependency
        yield outcome
