"""The head of a fleet with 1,000 workers and 100,000 experiments, without workers: what it costs, keeps, and is limited by.

`python -m benchmarks.fleet.simulate` plays the very schedule (expctl/domain/fleet/schedule.py) against a simulated clock: jobs
take as long as drawn, some are lost with their device, KEEPs land in order and are judged again. Beside it, journals of
attempts are written by the very journal for a sample of the experiments, on the disk of the working folder, and made-up
attempts are landed in repositories of several sizes by the very code (landing.py); what that costs in the middle of the
campaign, and at its end, is a line through those sizes. Exit 1 if a bar is missed.
"""

import argparse
import heapq
import os
import random
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from statistics import linear_regression
from typing import Any, get_args

from benchmarks.fleet.landing import Cost, landing_cost
from expctl.adapters.journal import EVENTS, FileJournal
from expctl.domain.experiment.record import Artifact
from expctl.domain.fleet.assignment import Assignment
from expctl.domain.fleet.events import Assigned, FleetEvent, Judged
from expctl.domain.fleet.schedule import Schedule
from expctl.domain.machine.walls import Walls
from expctl.domain.protocol.model import Style
from expctl.domain.run.events import Begun, Built, Event, Measured, Pinned, Tested
from expctl.domain.verdict.samples import Sample, Side
from expctl.flow.fleet.attempts import Attempts
from expctl.ports.fleet import Finished, Told

SEED = 24
JOB_S, SPREAD = 600.0, 0.5  # a median job, and the standard deviation of ln(its duration)
LOST = 0.002  # jobs that are lost with their device, which is back after AWAY_S
AWAY_S = 300.0
QUEUE = 5000  # proposals that wait at any time: agents propose as fast as that
COST_MOST_MS, GROWTH_MOST_MIB = 50.0, 4.0


@dataclass(slots=True)
class World:
    """The simulated fleet. `now` is in seconds, `heads_s` what the schedule's own operations have taken of the processor."""

    workers: int
    total: int
    keep: float
    draw: random.Random
    schedule: Schedule = field(default_factory=lambda: Schedule("0"))
    now: float = 0.0
    heads_s: float = 0.0
    proposed: int = 0
    kept: int = 0
    landed: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    ends: list[tuple[float, str, Assignment | None]] = field(default_factory=list)
    memory: list[tuple[int, float]] = field(default_factory=list)

    def play(self) -> None:
        """Until everything has landed."""
        started = time.process_time()
        for number in range(self.workers):
            self.schedule.offer(f"d{number}")
        self._turn()
        self.heads_s += time.process_time() - started
        while self.ends:
            self.now, device, assignment = heapq.heappop(self.ends)
            started = time.process_time()
            self._hear(device, assignment)
            self._turn()
            self.heads_s += time.process_time() - started

    @property
    def rate(self) -> float:
        """Experiments that land in an hour."""
        return 3600 * self.landed / self.now

    def _hear(self, device: str, assignment: Assignment | None) -> None:
        if assignment is None:
            self.schedule.offer(device)
        elif self.draw.random() < LOST:
            self.schedule.lose(device)
            self.counts["lost"] += 1
            heapq.heappush(self.ends, (self.now + AWAY_S, device, None))
        else:
            odds = 0.8 if assignment.again else self.keep  # most that gain alone gain on top of others too
            self.schedule.judged(assignment.id, assignment.attempt, keep=self.draw.random() < odds)
            self.counts["judged again"] += assignment.again

    def _turn(self) -> None:
        while True:
            while len(self.schedule) < QUEUE and self.proposed < self.total:
                self.schedule.enqueue(f"P{self.proposed}")
                self.proposed += 1
            while name := self.schedule.next_landing():
                self.kept += self.schedule.is_kept(name)
                self.landed += 1
                self.schedule.landed(name, str(self.kept))
                if self.landed % max(1, self.total // 10) == 0:
                    self.memory.append((self.landed, resident_mib()))
            assignment = self.schedule.assign()
            if assignment is None:
                return
            self.counts["jobs"] += 1
            takes = JOB_S * self.draw.lognormvariate(0.0, SPREAD)
            heapq.heappush(self.ends, (self.now + takes, assignment.device, assignment))


def resident_mib() -> float:
    """What this process holds of the memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def journal_cost(folder: Path, experiments: int, rounds: int) -> tuple[float, float]:
    """Write the journals of so many attempts, each of so many rounds, and forget them; return ms and KiB of one of them."""
    kinds: dict[str, Any] = EVENTS | {kind.__name__: kind for kind in get_args(FleetEvent)}
    attempts = Attempts(FileJournal(folder, kinds=kinds, flushes=False))
    hash_ = "0" * 64
    artifact = Artifact(sha256=hash_, code=hash_)
    begun = Begun(id="", target="here", guards=(), absent=(), base=hash_, branch="main", content=hash_, again=False, date="")
    events: list[Event] = [
        begun,
        Pinned(candidate=hash_, tree=hash_, patch_id=hash_),
        *(Built(side=side, target="here", artifact=artifact, duration_s=1.0) for side in Side),
        Tested(ok=True, fault=False, cases=118, summary="118 cases pass", duration_s=1.0),
    ]
    samples = tuple(
        Sample(
            round=0, launch=0, side=side, size=size, style=Style.FINE, visit=2, ns=(1_234_567,) * 24, order="ABBA", device="d"
        )
        for side in Side
        for size in ("n=512", "n=384")
    )
    events += [Measured(round=number, samples=samples) for number in range(rounds)]
    started, size = time.process_time(), 0
    for number in range(experiments):
        name = f"P{number}"
        attempts.begin(Assigned(id=name, attempt=1, device="d", kind="cpu", worker="w", base=hash_, kernel=hash_))
        for at, event in enumerate(events):
            attempts.tell(Told(device="d", id=name, attempt=1, number=at, event=event))
        judged = Judged(facts={"cpu": "x" * 40}, walls=Walls())
        attempts.judged(Finished(device="d", id=name, attempt=1, judged=judged))
        size += (folder / f"{name}.1.jsonl").stat().st_size
        if not number and len(attempts.newest(name).run) != len(events):
            raise RuntimeError("the journal has not taken what it was told")
        attempts.retire(name, 1)
    return 1000 * (time.process_time() - started) / experiments, size / experiments / 1024


def landing_of(records: int, count: int) -> Cost:
    """Return what it costs to land in a repository with so many records."""
    with tempfile.TemporaryDirectory(prefix="fleet-landing-") as folder:
        return landing_cost(Path(folder), history=records, count=count)


def line(x: list[int], y: list[float]) -> tuple[float, float]:
    """Return slope and intercept of the least squares line; a horizontal one through a single point."""
    found = linear_regression(x, y) if len(x) > 1 else None
    return (found.slope, found.intercept) if found is not None else (0.0, y[0])


def main() -> int:
    """Play it, print the figures, and return 1 if one of them misses its bar."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=1000)
    parser.add_argument("--experiments", type=int, default=100_000)
    parser.add_argument("--keep", type=float, default=0.002, help="share of experiments that gain alone")
    parser.add_argument("--journals", type=int, default=200, help="of how many experiments the journals are written")
    parser.add_argument("--landings", type=int, default=20, help="how many experiments land in each repository")
    parser.add_argument("--histories", type=int, nargs="+", default=[100, 1000, 10_000], help="records in the repositories")
    asked = parser.parse_args()
    world = World(workers=asked.workers, total=asked.experiments, keep=asked.keep, draw=random.Random(SEED))  # noqa: S311
    world.play()
    cost_ms = 1000 * world.heads_s / world.landed
    growth = world.memory[-1][1] - world.memory[0][1]
    with tempfile.TemporaryDirectory(dir=".", prefix=".fleet-simulation-") as folder:
        journal_ms, journal_kib = journal_cost(Path(folder) / "attempts", asked.journals, rounds=12)
    landing = [landing_of(records, asked.landings) for records in asked.histories]
    slope, fixed = line([*asked.histories], [each.cpu_ms for each in landing])
    busy_s = world.counts["jobs"] * JOB_S * 1.1331  # the mean of what is drawn, e ** (SPREAD ** 2 / 2)
    print(f"workers {asked.workers}, experiments {world.landed}, jobs {world.counts['jobs']} ({world.counts['lost']} lost)")
    print(f"kept {world.kept}, judged again {world.counts['judged again']}")
    print(f"schedule: {cost_ms:.3f} ms of the processor per experiment")
    print(
        f"journals: {journal_ms:.1f} ms of the processor and {journal_kib:.1f} KiB each (mean of {asked.journals}, 12 rounds)"
    )
    print(f"memory: {', '.join(f'{mib:.0f} MiB at {at}' for at, mib in world.memory)}")
    print(f"simulated time {world.now / 3600:.1f} h; devices busy {100 * busy_s / (world.now * asked.workers):.0f} %")
    for records, cost in zip(asked.histories, landing, strict=True):
        print(f"landing beside {records} records: {cost.cpu_ms:.0f} ms of the processor, {cost.wall_ms:.0f} ms by the clock")
    total_ms = cost_ms + journal_ms + fixed + slope * asked.experiments / 2
    at_end_ms = cost_ms + journal_ms + fixed + slope * asked.experiments
    print(f"head in all: {total_ms:.0f} ms of the processor per experiment in the mean, {at_end_ms:.0f} ms for the last ones")
    print(f"of which nearly all is landing: git's processes ({fixed:.0f} ms), and what grows with the records (ledger, index)")
    print(f"so one head lands {3600 / total_ms * 1000:.0f} experiments an hour; the devices finish {world.rate:.0f}")
    print("KEEPs are a chain: each is judged again beside the one that landed before it")
    missed = [f"{total_ms:.0f} ms per experiment, more than {COST_MOST_MS:g}"] * (total_ms > COST_MOST_MS)
    missed += [f"memory grew by {growth:.0f} MiB"] * (growth > GROWTH_MOST_MIB)
    missed += ["not everything landed"] * (world.landed != asked.experiments)
    for each in missed:
        print(f"missed: {each}")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
