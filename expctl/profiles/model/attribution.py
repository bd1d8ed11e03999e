"""Sum up the time of kernels by the torch operator, module or layer that launched them."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from expctl.domain.errors import Misused
from expctl.profiles.model.kernel_profile import Kernel
from expctl.profiles.model.origin import Origin

NOT_ATTRIBUTED = "(not attributed)"


class AttributeTo(StrEnum):
    """What the time of kernels can be summed up by."""

    OPERATOR = "operator"
    MODULE = "module"
    LAYER = "layer"


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributedTime:
    """Calls and time (ns) of all kernels that one operator, module or layer launched; shares are percentages of the whole run's
    kernel time, `cumulative_percent` with all that take longer. `tflops` is None unless the FLOP of every call are known.
    """

    name: str
    calls: int
    total_ns: int
    share_percent: float
    cumulative_percent: float
    tflops: float | None


def attributed(kernels: Sequence[Kernel], to: AttributeTo, total_ns: int) -> tuple[AttributedTime, ...]:
    """Return the time of `kernels` by operator, module or layer, most first; `total_ns` is that of the whole run. Kernels whose
    origin isn't known are one entry of their own. Raises Misused for a profile that records no origins.
    """
    if not any(kernel.origins for kernel in kernels):
        raise Misused(
            "this profile doesn't say which operator launched a kernel",
            code="no-operators-recorded",
            expected="a trace of torch.profiler with CPU activities",
            found="kernels without operators and modules",
            hint="profile(activities=[CPU, CUDA], record_shapes=True, with_modules=True, with_stack=True)",
        )
    sums: dict[str, list[Origin]] = {}
    for kernel in kernels:
        known = kernel.origins or (Origin(calls=kernel.calls, total_ns=kernel.total_ns or 0),)
        for origin in known:
            sums.setdefault(_name(origin, to) or NOT_ATTRIBUTED, []).append(origin)
    ordered = sorted(sums.items(), key=lambda each: -sum(origin.total_ns for origin in each[1]))
    found, reached = [], 0
    for name, origins in ordered:
        time = sum(origin.total_ns for origin in origins)
        reached += time
        flop = [origin.flop for origin in origins]
        found.append(
            AttributedTime(
                name=name,
                calls=sum(origin.calls for origin in origins),
                total_ns=time,
                share_percent=100 * time / total_ns if total_ns else 0.0,
                cumulative_percent=100 * reached / total_ns if total_ns else 0.0,
                tflops=sum(each or 0.0 for each in flop) / time / 1e3 if time and None not in flop else None,
            )
        )
    return tuple(found)


def _name(origin: Origin, to: AttributeTo) -> str:
    if to is AttributeTo.OPERATOR:
        return origin.operator
    return "/".join(origin.modules) if to is AttributeTo.MODULE else origin.layer
