"""Measures rounds: four fresh launches, or two workers that take turns in short quads."""

import os
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from expctl.adapters.child.contained_process import Child
from expctl.adapters.machine.interference_watch import Unwatched, Watch
from expctl.adapters.steps.worker import StepFailed, Visit, Worker
from expctl.domain.errors import Busy
from expctl.domain.protocol.model import Benchmark, Style
from expctl.domain.run.step_result import Failed
from expctl.domain.verdict.samples import Sample, Side
from expctl.ports.measuring import Progress

ORDERS = ("ABBA", "BAAB")
LETTER = {"A": Side.BASELINE, "B": Side.CANDIDATE}
LAUNCHES_MOST = 4  # in one place of a round, each on a machine that was quiet before it

Start = Callable[[Sequence[str], Path, Path, Path, int | None], Child]
"""(argv, cwd, artifact, log, core); raises StepFailed."""


class Pair:
    """One worker a side, begun in an order that a coin decides, with inputs from one secret seed."""

    def __init__(self, begin: Callable[[Side, int, ExitStack], Worker], born: int) -> None:
        self._open, self.rounds, self.born, seed = ExitStack(), 0, born, secrets.randbits(62)
        first = secrets.choice(tuple(Side))
        self.order = (first, Side.CANDIDATE if first is Side.BASELINE else Side.BASELINE)
        try:
            self.workers = {side: begin(side, seed, self._open) for side in self.order}
        except BaseException:
            self._open.close()
            raise

    def ask(self, request: str, wanted: str) -> None:
        """Ask both. Raises StepFailed."""
        for worker in self.workers.values():
            worker.ask({"do": request}, wanted)

    def close(self) -> None:
        """End both processes, whatever they do."""
        self._open.close()


class Rounds:
    """Measures in the style of the protocol. Keeps a pair alive for as many rounds as the protocol says."""

    def __init__(self, start: Start, log: Path, watch: Watch | None = None) -> None:
        self._start, self._log, self._watch = start, log, watch or Unwatched()
        self._pair: Pair | None = None

    def measure(
        self, benchmark: Benchmark, *, cwd: Path, artifacts: Mapping[Side, Path], round: int, progress: Progress
    ) -> tuple[Sample, ...] | Failed:
        """Measure one round."""
        if self._pair is None:
            self._log.unlink(missing_ok=True)  # what is quoted from it later was said by these workers
        measure = self._fine if benchmark.style is Style.FINE else self._launches
        for _ in range(LAUNCHES_MOST):
            try:
                return measure(benchmark, cwd, artifacts, round, progress)
            except BaseException as error:
                self.close()
                taints = self._watch.taken()
                if not isinstance(error, StepFailed):
                    raise
                if not taints:  # else somebody else may be to blame
                    return error.failed
        raise _restless(taints)

    def close(self) -> None:
        """End the pair that is still alive, if there is one."""
        if self._pair is not None:
            self._pair.close()
            self._pair = None

    def _launches(
        self, benchmark: Benchmark, cwd: Path, artifacts: Mapping[Side, Path], round: int, progress: Progress
    ) -> tuple[Sample, ...]:
        """Four fresh launches, ABBA or BAAB by coin; one that was disturbed is followed by another in its place."""
        order, seed = secrets.choice(ORDERS), secrets.randbits(62)
        samples: list[Sample] = []
        for place, letter in enumerate(order):
            for _ in range(LAUNCHES_MOST):
                visits, taints = self._launch(benchmark, cwd, artifacts, LETTER[letter], seed)
                launch = len(samples) // len(benchmark.sizes)
                found = (_sample(benchmark, round, launch, LETTER[letter], size, [visits[size]], order) for size in visits)
                samples += (replace(each, taints=taints) for each in found)
                if not taints:
                    break
            else:
                raise _restless(taints)
            progress.advance("round", place + 1, len(order))
        return tuple(samples)

    def _launch(
        self, benchmark: Benchmark, cwd: Path, artifacts: Mapping[Side, Path], side: Side, seed: int
    ) -> tuple[dict[str, Visit], tuple[str, ...]]:
        """Visits by size, and what disturbed them."""
        self._watch.clear()
        with ExitStack() as stack:
            worker, visits = self._begin(benchmark, cwd, artifacts, side, seed, None, stack), {}
            with self._watch.looking(side):
                for size in benchmark.sizes:
                    worker.times(size.name, 1)
                    visits[size.name] = worker.times(size.name, benchmark.iterations)
            worker.ask({"do": "end"}, "end")
        return visits, self._watch.taken()

    def _fine(
        self, benchmark: Benchmark, cwd: Path, artifacts: Mapping[Side, Path], round: int, progress: Progress
    ) -> tuple[Sample, ...]:
        """Two workers on one core; only one runs at a time. The last round of a pair ends it, the others have it check."""
        core = max(os.sched_getaffinity(0))

        def begin(side: Side, seed: int, stack: ExitStack) -> Worker:
            return self._begin(benchmark, cwd, artifacts, side, seed, core, stack, takes_turns=True)

        self._watch.clear()
        if self._pair is None:
            self._pair = Pair(begin, round)
        pair = self._pair
        pair.rounds += 1
        with self._watch.looking("both", core=core):
            for worker in pair.workers.values():
                for size in benchmark.sizes:
                    worker.times(size.name, 1)
            visits, orders = _quads(benchmark, pair.workers, progress)
        taints = self._watch.taken()
        if pair.rounds < benchmark.respawn:
            pair.ask("check", "checked")
        else:
            pair.ask("end", "end")
            self.close()
        born = pair.born if benchmark.respawn > 1 else None
        return tuple(
            replace(
                _sample(benchmark, round, launch, side, size.name, visits[side, size.name], orders[size.name], born),
                taints=taints,
            )
            for launch, side in enumerate(pair.order)
            for size in benchmark.sizes
        )

    def _begin(
        self,
        benchmark: Benchmark,
        cwd: Path,
        artifacts: Mapping[Side, Path],
        side: Side,
        seed: int,
        core: int | None,
        stack: ExitStack,
        *,
        takes_turns: bool = False,
    ) -> Worker:
        """A process that has drawn its inputs and is warm."""
        child = stack.enter_context(self._start(benchmark.argv, cwd, artifacts[side], self._log, core))
        worker = Worker(child, side, time.monotonic() + benchmark.timeout_s, self._log, takes_turns=takes_turns)
        with self._watch.looking(side, timed=False, core=core):
            worker.begin(seed, [size.name for size in benchmark.sizes])
        return worker


def _restless(taints: Sequence[str]) -> Busy:
    return Busy(
        "the machine does not stay quiet",
        code="machine-stays-noisy",
        expected=f"one of {LAUNCHES_MOST} launches without foreign work",
        found=", ".join(taints),
        hint="let it finish, then run the same command again; `expctl gate` shows what blocks",
    )


def _quads(
    benchmark: Benchmark, workers: Mapping[Side, Worker], progress: Progress
) -> tuple[dict[tuple[Side, str], list[Visit]], dict[str, str]]:
    visits: dict[tuple[Side, str], list[Visit]] = {(side, size.name): [] for side in Side for size in benchmark.sizes}
    orders = {size.name: "" for size in benchmark.sizes}
    for quad in range(benchmark.quads):
        for size in benchmark.sizes:
            order = secrets.choice(ORDERS)
            orders[size.name] += order[0]
            for letter in order:
                side = LETTER[letter]
                visits[side, size.name].append(workers[side].times(size.name, benchmark.iterations))
        progress.advance("round", quad + 1, benchmark.quads)
    return visits, orders


def _sample(
    benchmark: Benchmark,
    round: int,
    launch: int,
    side: Side,
    size: str,
    visits: Sequence[Visit],
    order: str,
    pair: int | None = None,
) -> Sample:
    return Sample(
        round=round,
        launch=launch,
        side=side,
        size=size,
        style=benchmark.style,
        visit=benchmark.iterations,
        ns=tuple(ns for visit in visits for ns in visit.ns),
        hidden_ns=tuple(visit.hidden_ns for visit in visits),
        order=order,
        pair=pair,
    )
