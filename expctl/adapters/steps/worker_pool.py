"""Starts the workers of a round: benchmark processes of both sides."""

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from expctl.adapters.child.contained_process import Child
from expctl.adapters.machine.interference_watch import Watch
from expctl.adapters.steps.worker import Worker
from expctl.domain.protocol.model import Benchmark
from expctl.domain.verdict.samples import Side

Start = Callable[[Sequence[str], Path, Path, Path, int | None, int], Child]
"""Starts a child for (argv, cwd, artifact, log, core, bytes to pad its environment with); raises StepFailed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerPool:
    """Starts workers of `benchmark` in `cwd` on the `builds` of both sides, watched by `watch`. Each ends with the stack that
    it was started on. `padding_most` is the largest size, in bytes, by which a worker's environment is padded. If `forgives`,
    wrong results of the candidate don't matter.
    """

    start: Start
    watch: Watch
    log: Path
    benchmark: Benchmark
    cwd: Path
    builds: Mapping[Side, Path]
    padding_most: int = 0
    forgives: bool = False

    @property
    def sizes(self) -> list[str]:
        """Return the names of the benchmark's sizes."""
        return [size.name for size in self.benchmark.sizes]

    def begin(self, side: Side, seed: int, core: int | None, stack: ExitStack, *, takes_turns: bool = False) -> Worker:
        """Start one worker and make it ready. Raises StepFailed."""
        worker = self._start(side, core, stack, takes_turns=takes_turns)
        with self.watch.watching(side, timed=False, core=core):
            worker.begin(seed, self.sizes)
        return worker

    def begin_together(self, sides: Sequence[Side], seed: int, stack: ExitStack) -> list[Worker]:
        """Start a worker for each of `sides`, and make them ready at the same time. Raises StepFailed."""
        workers = [self._start(side, None, stack) for side in sides]
        with self.watch.watching("both", timed=False):
            _at_once([partial(worker.begin, seed, self.sizes) for worker in workers])
        return workers

    def end_together(self, workers: Sequence[Worker]) -> None:
        """Have `workers` check their outputs and end, at the same time. Raises StepFailed."""
        _at_once([partial(worker.ask, {"do": "end"}, "end") for worker in workers])

    def _start(self, side: Side, core: int | None, stack: ExitStack, *, takes_turns: bool = False) -> Worker:
        padding = secrets.randbelow(self.padding_most) if self.padding_most else 0
        argv, deadline_s = self.benchmark.argv, time.monotonic() + self.benchmark.timeout_s
        child = stack.enter_context(self.start(argv, self.cwd, self.builds[side], self.log, core, padding))
        names = {size: self.benchmark.asked(side.value, size) for size in self.sizes}
        forgives = self.forgives and side is Side.CANDIDATE
        return Worker(child, side, deadline_s, self.log, takes_turns=takes_turns, names=names, forgives=forgives)


def _at_once(calls: Sequence[Callable[[], object]]) -> None:
    if calls:
        with ThreadPoolExecutor(len(calls)) as threads:
            for made in [threads.submit(call) for call in calls]:
                made.result()
