"""Mean time of one pass of a program that runs the same sequence of kernels over and over."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from expctl.domain.errors import Misused
from expctl.profiles.model.kernel_profile import Kernel, KernelClass


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One kernel of a repeated sequence: `calls` per pass (one repetition), and the time in ns that they take together."""

    name: str
    kind: KernelClass
    calls: int
    time_ns: float
    share_percent: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """Mean cost of one pass, i.e. one repetition of a program's sequence of kernels; times are in ns.

    `tflops` is 2 M N K over the time of a pass, `gemm_tflops` over that of its GEMM kernels alone. `outside` names kernels that
    are not part of every pass, such as preparations. `passes_from` says how the number of passes is known.
    """

    passes: int
    passes_from: str
    steps: tuple[Step, ...]
    total_ns: float
    outside: tuple[str, ...]
    size: tuple[int, int, int] | None = None
    flop: int | None = None
    tflops: float | None = None
    gemm_ns: float | None = None
    gemm_tflops: float | None = None


def pipeline(kernels: Sequence[Kernel], size: tuple[int, int, int] | None, passes: int | None) -> Pipeline:
    """Return the mean cost of one pass of a program that repeats `kernels` `passes` times.

    If `passes` is None, it is the number of calls of the GEMM with the most time. `size` is (M, N, K) of the GEMM; without it
    there are no TFLOP/s. Raises Misused if that GEMM is needed but missing, or if no kernel's calls are a multiple of the
    passes.
    """
    timed = [kernel for kernel in kernels if kernel.mean_ns is not None]
    given = "--passes"
    if passes is None:
        main = main_gemm(timed)
        if main is None:
            raise Misused(
                "the number of passes in this profile is unknown",
                code="passes-unknown",
                expected="a GEMM kernel, whose calls are counted, or --passes N",
                found="neither",
                hint="add --passes N: how often the program ran its sequence of kernels",
            )
        passes, given = main.calls, "the calls of the GEMM with the most time"
    inside = [kernel for kernel in timed if kernel.calls % passes == 0]
    times = [(kernel, kernel.calls // passes * (kernel.mean_ns or 0.0)) for kernel in inside]
    total = math.fsum(time for _, time in times)
    if not inside or total <= 0:
        seen = ", ".join(str(calls) for calls in sorted({kernel.calls for kernel in timed}))
        raise Misused(
            f"no kernel runs in each of {passes} passes of this profile",
            code="no-kernel-in-each-pass",
            expected=f"a kernel with a time, whose number of calls is a multiple of {passes} ({given})",
            found=f"kernels with {seen[:100]} calls" if seen else "no kernel with a time",
            hint="give the number of passes that were profiled with --passes N",
        )
    gemm = math.fsum(time for kernel, time in times if kernel.kind is KernelClass.GEMM)
    flop = 2 * math.prod(size) if size else None
    return Pipeline(
        passes=passes,
        passes_from=given,
        steps=tuple(
            Step(
                name=kernel.name, kind=kernel.kind, calls=kernel.calls // passes, time_ns=time, share_percent=100 * time / total
            )
            for kernel, time in times
        ),
        total_ns=total,
        outside=tuple(kernel.name for kernel in timed if kernel.calls % passes),
        size=size,
        flop=flop,
        tflops=flop / total / 1e3 if flop else None,
        gemm_ns=gemm or None,
        gemm_tflops=flop / gemm / 1e3 if flop and gemm else None,
    )


def main_gemm(kernels: Sequence[Kernel]) -> Kernel | None:
    """Return the GEMM kernel that takes the most time; None when there is no GEMM."""
    gemms = [kernel for kernel in kernels if kernel.kind is KernelClass.GEMM]
    return max(gemms, key=lambda each: each.total_ns or 0, default=None)
