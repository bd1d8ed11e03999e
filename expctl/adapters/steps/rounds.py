"""Measure rounds, in style `launch` or `fine`.

In style `launch` a round is four new processes, in the order ABBA or BAAB of the two sides; with `together` they are made ready
at the same time, timed one after the other, and checked at the same time. In style `fine` one process of each side is kept and
they take turns, in groups of four visits (quads).
"""

import os
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from msgspec.structs import replace

from expctl.adapters.machine.interference_watch import Unwatched, Watch
from expctl.adapters.steps.burn_in import until_steady
from expctl.adapters.steps.cold_starts import ColdStarts
from expctl.adapters.steps.pair import Pair
from expctl.adapters.steps.worker import StepFailed, Visit, Worker
from expctl.adapters.steps.worker_pool import Start, WorkerPool
from expctl.domain.errors import Busy
from expctl.domain.machine.burn_in import BurnIn
from expctl.domain.protocol.model import Benchmark, Style
from expctl.domain.run.step_result import Failed
from expctl.domain.verdict.samples import Sample, Side
from expctl.ports.measuring import Progress

ORDERS = ("ABBA", "BAAB")
LETTER = {"A": Side.BASELINE, "B": Side.CANDIDATE}
PAUSE_MOST = 0.5  # of the length of a launch: a random pause before each keeps what recurs on the machine out of step
PADDING_MOST = 4096  # bytes: where a side has layouts, each launch gets an environment of a random size, which moves its stack
LAUNCHES_MOST = 4  # tries for one position of a round, each begun on a quiet machine
RECURS, RECURS_ON_BOTH = 5, 10  # failures with `repeat` (docs/HARNESS.md) that count: the candidate's alone, and both sides'


def last_core() -> int:
    """Return the last core that this process may use, on which pinned workers run."""
    return max(os.sched_getaffinity(0))


class Rounds:
    """Measures rounds in style `launch` (new processes for each) or `fine` (two that take turns, kept for `respawn` rounds)."""

    def __init__(
        self,
        start: Start,
        log: Path,
        watch: Watch | None = None,
        cached: Callable[[Path], frozenset[str]] = lambda _: frozenset(),
        *,
        core: Callable[[], int] = last_core,
    ) -> None:
        self._core = core
        self._start, self._log, self._watch = start, log, watch or Unwatched()
        self.cold_starts = ColdStarts(cached)
        self._pair: Pair | None = None
        self._launch_s = 0.0  # of the launch before

    def measure(
        self,
        benchmark: Benchmark,
        *,
        cwd: Path,
        artifacts: Mapping[Side, Sequence[Path]],
        round: int,
        progress: Progress,
        forgives: bool = False,
    ) -> tuple[Sample, ...] | Failed:
        """Return the samples of one round, of both sides at every size; Failed if a worker failed.

        `artifacts` has the builds of each side, one per layout (where their code lies); rounds, or the pairs of workers that
        live for several, take the layouts in turn. If `forgives`, wrong results of the candidate don't matter. Measured again
        are a round that foreign work disturbed, raising Busy if that goes on, and one in which a side filled a compiler's
        cache, as its times may hold a compilation: if that goes on, the round has failed. A failure that a disturbed machine
        can cause counts when it recurs (RECURS), and as a fault if the baseline has had it, too.
        """
        if self._pair is None:
            self._log.unlink(missing_ok=True)  # so that later quotes are from these workers
        measure = self._fine if benchmark.style is Style.FINE else self._launches
        taints: tuple[str, ...] = ()
        disturbed, doubtful = 0, list[Failed]()
        while disturbed < LAUNCHES_MOST:
            layouts = len(artifacts[Side.BASELINE])
            layout = self._pair.layout if self._pair is not None else round // benchmark.respawn % layouts
            builds, padding = {side: artifacts[side][layout] for side in Side}, PADDING_MOST if layouts > 1 else 0
            pool = self._pool(benchmark, cwd, builds, padding, forgives=forgives)
            before = self.cold_starts.kept(builds)
            try:
                samples = tuple(replace(each, layout=layout) for each in measure(pool, round, layout, progress))
            except BaseException as error:
                self.close()
                taints = self._watch.take_taints()
                if not isinstance(error, StepFailed):
                    raise
                doubtful += [error.failed] if error.failed.repeat and not taints else []
                faults = [each for each in doubtful if each.fault]
                if len(doubtful) == (RECURS_ON_BOTH if faults else RECURS):
                    return (faults or doubtful)[-1]
                if not taints and not error.failed.repeat:  # with taints, foreign work may have caused the failure
                    return error.failed
                disturbed += bool(taints)
                continue
            was_warm = self.cold_starts.was_warm(builds, before)
            if was_warm is True:
                return samples
            self.close()
            if isinstance(was_warm, Failed):
                return was_warm
        raise not_quiet(taints)

    def burn_in(self, benchmark: Benchmark, *, cwd: Path, artifact: Path, progress: Progress) -> BurnIn:
        """Let one worker time the build `artifact`, uncounted, until the GPU is steady (`benchmark.burn_in`); return its state.

        Raises Busy if the machine isn't quiet. A worker that fails is the state's trouble: the round that follows shows it too.
        """
        self.close()
        self._log.unlink(missing_ok=True)
        core = self._core() if benchmark.style is Style.FINE else None
        self._watch.clear()
        started_s = time.monotonic()
        with ExitStack() as stack:
            try:
                pool = self._pool(benchmark, cwd, {Side.BASELINE: artifact})
                worker = pool.begin(Side.BASELINE, secrets.randbits(62), core, stack)
                with self._watch.watching(Side.BASELINE, timed=False, core=core):
                    return until_steady(worker, benchmark, self._watch.readings, progress)
            except StepFailed as failed:
                return BurnIn(seconds=round(time.monotonic() - started_s, 1), trouble=failed.failed.reason)
            finally:
                self._watch.take_taints()

    def close(self) -> None:
        """End the pair of workers that was kept for the next round, if there is one."""
        if self._pair is not None:
            self._pair.close()
            self._pair = None

    def _pool(
        self, benchmark: Benchmark, cwd: Path, builds: Mapping[Side, Path], padding_most: int = 0, *, forgives: bool = False
    ) -> WorkerPool:
        return WorkerPool(
            start=self._start,
            watch=self._watch,
            log=self._log,
            benchmark=benchmark,
            cwd=cwd,
            builds=builds,
            padding_most=padding_most,
            forgives=forgives,
        )

    def _launches(self, pool: WorkerPool, round: int, layout: int, progress: Progress) -> tuple[Sample, ...]:  # noqa: ARG002  as for `_fine`
        benchmark, order, seed = pool.benchmark, secrets.choice(ORDERS), secrets.randbits(62)
        samples: list[Sample] = []
        with ExitStack() as stack:
            together = self._together(pool, order, seed, stack) if benchmark.together else []
            ready = list(together)
            for letter in order:
                waiting = ready.pop(0) if ready else None
                for _ in range(LAUNCHES_MOST):
                    visits, config, taints = self._launch(pool, LETTER[letter], seed, waiting)
                    launch, waiting = len(samples) // len(benchmark.sizes), None
                    found = (
                        _sample(benchmark, round, launch, LETTER[letter], size, [visits[size]], order, config)
                        for size in visits
                    )
                    samples += (replace(each, taints=taints) for each in found)
                    if not taints:
                        break
                else:
                    raise not_quiet(taints)
                progress.tick()
            pool.end_together(together)
        return tuple(samples)

    def _together(self, pool: WorkerPool, order: str, seed: int, stack: ExitStack) -> list[Worker]:
        self._watch.clear()
        with self.cold_starts.starting(*Side):
            return pool.begin_together([LETTER[letter] for letter in order], seed, stack)

    def _launch(
        self, pool: WorkerPool, side: Side, seed: int, ready: Worker | None
    ) -> tuple[dict[str, Visit], str, tuple[str, ...]]:
        time.sleep(secrets.SystemRandom().uniform(0, PAUSE_MOST * self._launch_s))
        self._watch.clear()
        iterations, started_s = pool.benchmark.iterations, time.monotonic()
        with ExitStack() as stack:
            worker, visits = ready or self._begin(pool, side, seed, None, stack), {}
            with self._watch.watching(side):
                for size in pool.sizes:
                    worker.times(size, iterations if ready else 1)  # one that waited is warmed up again
                    visits[size] = worker.times(size, iterations)
            if ready is None:  # those that waited together also check their outputs together, when the last of them was timed
                worker.ask({"do": "end"}, "end")
        self._launch_s = time.monotonic() - started_s
        return visits, worker.config, self._watch.take_taints()

    def _begin(
        self, pool: WorkerPool, side: Side, seed: int, core: int | None, stack: ExitStack, *, takes_turns: bool = False
    ) -> Worker:
        with self.cold_starts.starting(side):
            return pool.begin(side, seed, core, stack, takes_turns=takes_turns)

    def _fine(self, pool: WorkerPool, round: int, layout: int, progress: Progress) -> tuple[Sample, ...]:
        benchmark, core = pool.benchmark, self._core()

        def begin(side: Side, seed: int, stack: ExitStack) -> Worker:
            return self._begin(pool, side, seed, core, stack, takes_turns=True)

        self._watch.clear()
        if self._pair is None:
            self._pair = Pair(begin, round, layout)
        pair = self._pair
        pair.rounds += 1
        with self._watch.watching("both", core=core):
            for worker in pair.workers.values():
                for size in benchmark.sizes:
                    worker.times(size.name, 1)
            visits, orders = _quads(benchmark, pair.workers, progress)
        taints = self._watch.take_taints()
        if pair.rounds < benchmark.respawn:
            if not pool.forgives:
                pair.ask("check", "checked")
        else:
            pair.ask("end", "end")
            self.close()
        born = pair.born if benchmark.respawn > 1 else None
        return tuple(
            replace(
                _sample(
                    benchmark,
                    round,
                    launch,
                    side,
                    size.name,
                    visits[side, size.name],
                    orders[size.name],
                    pair.workers[side].config,
                    born,
                ),
                taints=taints,
            )
            for launch, side in enumerate(pair.order)
            for size in benchmark.sizes
        )


def not_quiet(taints: Sequence[str]) -> Busy:
    """Return the error that foreign work, `taints`, disturbed every try of a launch."""
    return Busy(
        "the machine does not stay quiet",
        code="machine-stays-noisy",
        expected=f"at least one of {LAUNCHES_MOST} launches of the benchmark undisturbed by other programs",
        found=", ".join(taints),
        hint="let those programs finish, then run the same command again; `expctl gate` shows what blocks",
    )


def _quads(
    benchmark: Benchmark, workers: Mapping[Side, Worker], progress: Progress
) -> tuple[dict[tuple[Side, str], list[Visit]], dict[str, str]]:
    visits: dict[tuple[Side, str], list[Visit]] = {(side, size.name): [] for side in Side for size in benchmark.sizes}
    orders = {size.name: "" for size in benchmark.sizes}
    for _ in range(benchmark.quads):
        for size in benchmark.sizes:
            order = secrets.choice(ORDERS)
            orders[size.name] += order[0]
            for letter in order:
                side = LETTER[letter]
                visits[side, size.name].append(workers[side].times(size.name, benchmark.iterations))
        progress.tick()
    return visits, orders


def _sample(
    benchmark: Benchmark,
    round: int,
    launch: int,
    side: Side,
    size: str,
    visits: Sequence[Visit],
    order: str,
    config: str,
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
        config=config,
    )
