"""The types of suite.yaml: kernels with their shapes, and the environments in which they are timed (docs/SUITE.md)."""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, field

from expctl.domain.protocol.model import Environment, Gate

WARMUPS_LEAST = 3
ITERATIONS_LEAST = 10


class TimedOn(StrEnum):
    """Whose time is measured; it decides which sensors of the gate are asked."""

    CPU = "cpu"
    GPU = "gpu"


class SuiteEnvironment(Environment, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An interpreter and variables, as `environment` of protocol.yaml has them, under a name such as golden or tot.

    `checkouts` maps names to folders of git repositories whose commit and branch belong to the environment, such as that of a
    package that is imported from its source.
    """

    checkouts: Mapping[str, str] = field(default_factory=dict)


class SuiteKernel(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A kernel: the command that calls it `warmups` + `iterations` times, and its shapes (name of an extent -> whole number).

    `optional` names what a call may have or lack, such as bias, with the arguments that ask for it; a shape has it by
    `bias: 1`.
    `bytes` maps what a call reads or writes to its bytes, as an expression of the extents; what is optional counts only where
    the shape has it. `traced` is a regular expression for the GPU kernels of one call, where the profiler's trace gives times.
    `source`, `benchmark` and `configs` are files (configs: patterns) that `suite coverage` looks for.
    """

    argv: tuple[str, ...]
    shapes: tuple[Mapping[str, int], ...]
    optional: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    bytes: Mapping[str, str] = field(default_factory=dict)
    traced: str = ""
    source: str = ""
    benchmark: str = ""
    configs: tuple[str, ...] = ()


class Suite(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The contents of suite.yaml. `trace` is the profiler's command that is put before each benchmark; without it, benchmarks
    write their own times. `sources` are patterns of all files that hold kernels, so that coverage sees what has no entry.
    `gate` replaces that of protocol.yaml.
    """

    version: int
    environments: Mapping[str, SuiteEnvironment]
    kernels: Mapping[str, SuiteKernel]
    timed_on: TimedOn = TimedOn.CPU
    warmups: int = WARMUPS_LEAST
    iterations: int = ITERATIONS_LEAST
    timeout_s: float = 1200.0
    trace: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    gate: Gate | None = None
