"""Knows which rounds a compiler worked in, because a build's caches grew, and what the first run of a build cost."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from expctl.domain.machine.first_run import FirstRun
from expctl.domain.run.step_result import Failed
from expctl.domain.verdict.samples import Side

COLD_MOST = 3  # rounds that are dropped because a build filled a compiler's cache; more would let it choose its rounds
Kept = Mapping[Side, frozenset[str]]


class ColdStarts:
    """The rounds of one run in which builds filled caches. `cached` returns the files in the caches of a build."""

    def __init__(self, cached: Callable[[Path], frozenset[str]]) -> None:
        self._cached = cached
        self._ready_s: dict[Side, float] = {}  # of the newest worker of each side: from its start until it was ready
        self._cold_s: dict[Path, list[float]] = {}  # of each build, the same for the rounds in which it filled a cache
        self._first_runs: list[FirstRun] = []
        self._told: set[tuple[Path, Side]] = set()

    @contextmanager
    def starting(self, *sides: Side) -> Iterator[None]:
        """Measure how long the enclosed block takes to make workers of `sides` ready."""
        started_s = time.monotonic()
        yield
        self._ready_s |= dict.fromkeys(sides, round(time.monotonic() - started_s, 1))

    def kept(self, builds: Mapping[Side, Path]) -> Kept:
        """Return what the caches of the builds hold."""
        return {side: self._cached(build) for side, build in builds.items()}

    def was_warm(self, builds: Mapping[Side, Path], before: Kept) -> bool | Failed:
        """Has no build filled a cache in a round before which caches held `before`? Failed if one did so once too often."""
        filled = {side: new for side, held in self.kept(builds).items() if (new := sorted(held - before[side]))}
        if not filled:
            self._first_runs += [each for side, build in builds.items() if (each := self._first_run(side, build))]
            return True
        for side in filled:
            self._cold_s.setdefault(builds[side], []).append(self._ready_s.get(side, 0.0))
        is_too_often = any(len(self._cold_s[builds[side]]) > COLD_MOST for side in filled)
        return _still_compiles(filled) if is_too_often else False

    def take_first_runs(self) -> tuple[FirstRun, ...]:
        """Return what first runs of builds with a cold cache cost, of those that were seen warm since the last call."""
        taken, self._first_runs = tuple(self._first_runs), []
        return taken

    def _first_run(self, side: Side, build: Path) -> FirstRun | None:
        """Return what the first run of a build cost, once: when it was ready with a warm cache for the first time."""
        cold_s = self._cold_s.get(build, [])
        if not cold_s or (build, side) in self._told:
            return None
        self._told.add((build, side))
        return FirstRun(side=side, cold_s=max(cold_s), warm_s=self._ready_s.get(side, 0.0))


def _still_compiles(filled: Mapping[Side, Sequence[str]]) -> Failed:
    side, files = next(iter(filled.items()))
    said = (
        f"the {side} still compiles in launches that are timed: {len(files)} new files in its cache, such as {files[0][-60:]}"
    )
    return Failed(reason=said, fault=Side.BASELINE in filled)
