"""The benchmark of a target as a tuning uses it: shapes as sizes, each side asked for a config of its own."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from expctl.domain.protocol.model import Benchmark, Size, Style
from expctl.domain.protocol.tune import Tune

NOW = "auto"
"""The config that the benchmark takes by itself: by the tables that stand, else the build's choice."""


class SidedBenchmark(Benchmark, frozen=True, kw_only=True):
    """A benchmark in which `asks` says, by side and size, what its worker is asked for, such as 64x512x128@1,8,2,2,8,2."""

    asks: Mapping[str, Mapping[str, str]]

    def asked(self, side: str, size: str) -> str:
        """Return the name under which a worker of `side` is asked for a size."""
        return self.asks[side][size]


def with_shapes(benchmark: Benchmark, shapes: Sequence[str]) -> Benchmark:
    """Return `benchmark` with these shapes, of equal weight, as its sizes."""
    return Benchmark(**_values(benchmark, shapes))


def sided(benchmark: Benchmark, rule: Tune, before: Mapping[str, str], after: Mapping[str, str]) -> SidedBenchmark:
    """Return the benchmark of rounds in which baseline and candidate are asked for `before` and `after`, by size."""
    values = {**_values(benchmark, list(after)), "quads": rule.quads}
    return SidedBenchmark(**values, asks={"baseline": before, "candidate": after})


def sided_as(benchmark: Benchmark, asks: Mapping[str, Mapping[str, str]]) -> SidedBenchmark:
    """Return `benchmark` with its own sizes and rounds, each side asked as `asks` says, and without a control of its own."""
    values = {name: getattr(benchmark, name) for name in Benchmark.__struct_fields__}
    return SidedBenchmark(**{**values, "control": None}, asks=asks)


def screening(benchmark: Benchmark, rule: Tune, names: Sequence[str]) -> Benchmark:
    """Return the benchmark of a screen: both sides are asked for all of `names`, in four launches of a process each."""
    values = {**_values(benchmark, names), "style": Style.LAUNCH, "iterations": rule.iterations, "layouts": 1}
    return Benchmark(**values)


def config_of(fact: str, name: str) -> str:
    """Return the config that a benchmark's fact `config` gives for a size, "" for none. A fact is e.g.
    `64x8x8@auto: 1,8,2,2,8,2 (DEFAULT.json, any, not tuned); 16x8x8@auto: 1,2,4,2,2,2`.
    """
    for entry in fact.split("; "):
        named, sign, config = entry.partition(": ")
        if sign and named == name:
            return config.split(" (")[0]
    return ""


def now(shape: str) -> str:
    """Return what a worker is asked for to time a shape as it stands."""
    return f"{shape}@{NOW}"


def _values(benchmark: Benchmark, names: Sequence[str]) -> dict[str, Any]:
    sizes = tuple(Size(name=name, weight=1.0 / len(names), flop=_flop(name)) for name in names)
    return {name: getattr(benchmark, name) for name in Benchmark.__struct_fields__} | {"sizes": sizes, "respawn": 1}


def _flop(name: str) -> int:
    numbers = name.split("@")[0].split("x")
    return 2 * math.prod(map(int, numbers)) if len(numbers) == 3 and all(each.isdecimal() for each in numbers) else 0
