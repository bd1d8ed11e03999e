"""The head of a fleet with 1,000 workers and 100,000 experiments, without workers: what it costs, keeps, and is limited by.

`python -m benchmarks.fleet.simulate` plays the very schedule (expctl/domain/fleet/schedule.py) against a simulated clock: jobs
take as long as drawn, some are lost with their device, KEEPs land in order and are judged again. Before it, journals of
attempts are written and read by the very journal for a sample of the experiments, on the disk of the working folder, and
made-up attempts are landed in repositories of several sizes by the very code (landing.py), alone and together: what a landing
of so many costs beside so many records is a line through those sizes, and the very pace (expctl/domain/fleet/pace.py) says how
many land together. Exit 1 if a bar is missed.
"""

import argparse
import heapq
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import linear_regression, median
from typing import Any, get_args

from benchmarks.fleet.landing import Cost, landing_cost
from expctl.adapters.journal import EVENTS, FileJournal
from expctl.domain.experiment.record import Artifact
from expctl.domain.fleet.assignment import Assignment
from expctl.domain.fleet.events import Assigned, FleetEvent, Judged
from expctl.domain.fleet.pace import TOGETHER_MOST, Pace
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
FEW, MANY = 8, 64  # that land together
TENTHS = 10


@dataclass(frozen=True, slots=True)
class Landing:
    """What a landing costs the processor: ms of one alone, and of several together, for the landing as a whole, each a line
    (slope, intercept) over the number of records; and for `each` of several, whatever the records: profiles show no difference.
    """

    alone: tuple[float, float]
    each: float
    whole: tuple[float, float]

    @staticmethod
    def of(measured: Mapping[int, Mapping[int, Cost]]) -> "Landing":
        """`measured` is number of records -> number of experiments that landed together -> cost of one of them."""
        records = [*measured]
        costs = [*measured.values()]
        each = median((MANY * cost[MANY].cpu_ms - FEW * cost[FEW].cpu_ms) / (MANY - FEW) for cost in costs)
        whole = [FEW * (cost[FEW].cpu_ms - each) for cost in costs]
        return Landing(line(records, [cost[1].cpu_ms for cost in costs]), each, line(records, whole))

    def takes_s(self, together: int, records: int) -> float:
        """Return what landing so many takes beside so many records."""
        (slope, fixed), each = (self.alone, 0.0) if together == 1 else (self.whole, self.each)
        return (slope * records + fixed + each * together) / 1000


@dataclass(slots=True)
class World:
    """The simulated fleet. `now` is in seconds, `heads_s` what the schedule's own operations have taken of the processor, and
    `landing_s` what landing would have taken.
    """

    workers: int
    total: int
    keep: float
    draw: random.Random
    landing: Landing
    pace: Pace = field(default_factory=Pace)
    landing_s: float = 0.0
    landings: int = 0
    waited_s: float = 0.0
    judged_at: dict[str, float] = field(default_factory=dict)
    schedule: Schedule = field(default_factory=lambda: Schedule("0"))
    now: float = 0.0
    heads_s: float = 0.0
    proposed: int = 0
    kept: int = 0
    landed: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    ends: list[tuple[float, str, Assignment | None]] = field(default_factory=list)
    marks: list[tuple[int, float, float]] = field(default_factory=list)  # landed, MiB of memory, s of landing

    def play(self) -> None:
        """Until everything has landed."""
        started = time.process_time()
        for number in range(self.workers):
            self.schedule.offer(f"d{number}")
        self._turn()
        self.heads_s += time.process_time() - started
        while self.ends:
            self.now = max(self.now, self.ends[0][0])
            started = time.process_time()
            while self.ends and self.ends[0][0] <= self.now:  # while it landed, the head has heard nothing
                self._hear(*heapq.heappop(self.ends)[1:])
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
            self.judged_at[assignment.id] = self.now
            self.counts["judged again"] += assignment.again

    def _turn(self) -> None:
        self._propose()
        self._assign()
        while self._land() | self._propose() | self._assign():
            pass

    def _propose(self) -> bool:
        before = self.proposed
        while len(self.schedule) < QUEUE and self.proposed < self.total:
            self.schedule.enqueue(f"P{self.proposed}")
            self.proposed += 1
        return self.proposed > before

    def _land(self) -> bool:
        name = self.schedule.next_landing()
        names = self.schedule.next_together(TOGETHER_MOST)
        may_wait = self.pace.rests(self.now) and not self.schedule.is_pressed(unlocks=False)
        if not name or (0 < len(names) < TOGETHER_MOST and may_wait):
            return False
        takes_s = self.landing.takes_s(len(names) or 1, self.landed)
        self.landing_s += takes_s
        self.landings += 1
        self.pace.landed(self.now, self.now + takes_s)
        for each in names or (name,):
            self.waited_s += self.now - self.judged_at.pop(each)
            self.kept += self.schedule.is_kept(each)
            self.landed += 1
            self.schedule.landed(each, str(self.kept))
            if self.landed % max(1, self.total // TENTHS) == 0:
                self.marks.append((self.landed, resident_mib(), self.landing_s))
        self.now += takes_s
        return True

    def _assign(self) -> bool:
        before = self.counts["jobs"]
        while assignment := self.schedule.assign():
            self.counts["jobs"] += 1
            takes = JOB_S * self.draw.lognormvariate(0.0, SPREAD)
            heapq.heappush(self.ends, (self.now + takes, assignment.device, assignment))
        return self.counts["jobs"] > before


def resident_mib() -> float:
    """What this process holds of the memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def journal_cost(folder: Path, experiments: int, rounds: int) -> tuple[float, float]:
    """Write the journals of so many attempts, each of so many rounds, read each when it is judged and when it lands, and forget
    them; return ms and KiB of one of them.
    """
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
    names = [f"P{number}" for number in range(experiments)]
    for name in names:
        attempts.begin(Assigned(id=name, attempt=1, device="d", kind="cpu", worker="w", base=hash_, kernel=hash_))
    for at, event in enumerate(events):  # as devices tell them that work at the same time
        for name in names:
            attempts.tell(Told(device="d", id=name, attempt=1, number=at, event=event))
    for name in names:
        judged = Judged(facts={"cpu": "x" * 40}, walls=Walls())
        attempts.judged(Finished(device="d", id=name, attempt=1, judged=judged))
        size += (folder / f"{name}.1.jsonl").stat().st_size
        if len(attempts.newest(name).run) != len(events):
            raise RuntimeError("the journal has not taken what it was told")
    for name in names:
        attempts.newest(name)
        attempts.retire(name, 1)
    return 1000 * (time.process_time() - started) / experiments, size / experiments / 1024


def landing_of(records: int, count: int) -> dict[int, Cost]:
    """Return what it costs to land in a repository with so many records."""
    with tempfile.TemporaryDirectory(prefix="fleet-landing-") as folder:
        return landing_cost(Path(folder), history=records, count=count, together=(1, FEW, MANY))


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
    with tempfile.TemporaryDirectory(dir=".", prefix=".fleet-simulation-") as folder:
        journal_ms, journal_kib = journal_cost(Path(folder) / "attempts", asked.journals, rounds=12)
    measured = {records: landing_of(records, asked.landings) for records in asked.histories}
    draw = random.Random(SEED)  # noqa: S311
    world = World(workers=asked.workers, total=asked.experiments, keep=asked.keep, draw=draw, landing=Landing.of(measured))
    world.play()
    growth = world.marks[-1][1] - world.marks[0][1]
    busy_s = world.counts["jobs"] * JOB_S * 1.1331  # the mean of what is drawn, e ** (SPREAD ** 2 / 2)
    print(f"workers {asked.workers}, experiments {world.landed}, jobs {world.counts['jobs']} ({world.counts['lost']} lost)")
    print(f"kept {world.kept}, judged again {world.counts['judged again']}")
    cost_ms = 1000 * world.heads_s / world.landed
    print(f"schedule: {cost_ms:.3f} ms of the processor per experiment")
    print(
        f"journals: {journal_ms:.1f} ms of the processor and {journal_kib:.1f} KiB each (mean of {asked.journals}, 12 rounds)"
    )
    print(f"memory: {', '.join(f'{mib:.0f} MiB at {at}' for at, mib, _ in world.marks)}")
    print(f"simulated time {world.now / 3600:.1f} h; devices busy {100 * busy_s / (world.now * asked.workers):.0f} %")
    for records, costs in measured.items():
        told = "; ".join(f"{size} together {cost.cpu_ms:.0f} and {cost.wall_ms:.0f}" for size, cost in sorted(costs.items()))
        print(f"landing beside {records} records, ms of the processor and by the clock, each: {told}")
    print(f"of that {world.landing.each:.0f} ms each when several land together, whatever the records")
    print(
        f"{world.landings} landings, of {world.landed / world.landings:.1f} in the mean; "
        f"a result waits {world.waited_s / world.landed:.0f} s for its own, while its device works on"
    )
    landing_ms = 1000 * world.landing_s / world.landed
    (before, _, before_s), (last, _, last_s) = world.marks[-2:]
    last_ms = 1000 * (last_s - before_s) / (last - before)
    total_ms, at_end_ms = (cost_ms + journal_ms + each for each in (landing_ms, last_ms))
    print(f"head in all: {total_ms:.0f} ms of the processor per experiment in the mean, {at_end_ms:.0f} ms for the last tenth")
    print(f"so one head works {total_ms * world.rate / 36_000:.0f} % of the time; the devices finish {world.rate:.0f} an hour")
    print("KEEPs are a chain: each is judged again beside the one that landed before it")
    missed = [f"{total_ms:.0f} ms per experiment, more than {COST_MOST_MS:g}"] * (total_ms > COST_MOST_MS)
    missed += [f"memory grew by {growth:.0f} MiB"] * (growth > GROWTH_MOST_MIB)
    missed += ["not everything landed"] * (world.landed != asked.experiments)
    for each in missed:
        print(f"missed: {each}")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
