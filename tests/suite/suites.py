"""A suite of one kernel, and what a test changes in it."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from expctl.suite.model import Suite, SuiteEnvironment, SuiteKernel

KERNEL = SuiteKernel(
    argv=("{python}", "bench.py", "{M}x{N}", "{warmups}", "{iterations}", "{times}"),
    shapes=({"M": 64, "N": 8}, {"M": 64, "N": 8, "bias": 1}),
    optional={"bias": ("--bias",)},
    bytes={"a": "2*M", "bias": "2 * N", "c": "M*N"},
)
SUITE = Suite(version=1, environments={"golden": SuiteEnvironment()}, kernels={"mm": KERNEL})


def with_kernel(suite: Suite = SUITE, **changes: Any) -> Suite:
    """The suite with another kernel."""
    kernels: Mapping[str, SuiteKernel] = {"mm": replace(KERNEL, **changes)}
    return replace(suite, kernels=kernels)
