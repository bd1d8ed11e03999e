"""Check the profiler's byte counters on kernels whose traffic is known: a copy of known size.

A counter of bytes may count half of the channels, or requests of another size. It is trusted for a memory bound only after it
gave the right figure for a kernel that moves a known number of bytes.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from expctl.profiles.model.kernel_profile import Kernel

TOLERANCE_PERCENT = 10.0
"""Most that counted and known bytes may differ in a calibrated profile: caches and page tables move some more or less."""
COUNTED_BYTES = "bytes: FETCH_SIZE + WRITE_SIZE"
NCU_BYTES = "bytes: DRAM traffic (ncu)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Counted bytes over known bytes of a call of the kernel `kernel`; `ratio` is None where no kernel has both."""

    kernel: str = ""
    ratio: float | None = None

    @property
    def holds(self) -> bool | None:
        """Return whether counters and known bytes agree within 10 %; None where nothing was compared."""
        return None if self.ratio is None else abs(self.ratio - 1) <= TOLERANCE_PERCENT / 100

    @property
    def words(self) -> str:
        """Return what is known of the counters, to stand behind a figure that is made of them."""
        if self.ratio is None:
            return "counters uncalibrated: --moves REGEX=BYTES of a copy calibrates them"
        state = "calibrated" if self.holds else "NOT right here"
        return f"counters {state}: {self.ratio:.3g} of the known bytes of {self.kernel[:40]}"


def counted_bytes(counters: Mapping[str, float], duration_ns: float) -> tuple[float | None, str]:
    """Return the bytes that a call of `duration_ns` moved by its `counters`, and where they are from; (None, "") without."""
    if "FETCH_SIZE" in counters and "WRITE_SIZE" in counters:
        return 1024 * (counters["FETCH_SIZE"] + counters["WRITE_SIZE"]), COUNTED_BYTES
    if "dram__bytes.sum" in counters:
        return counters["dram__bytes.sum"], NCU_BYTES
    if "dram__bytes.sum.per_second" in counters:
        return counters["dram__bytes.sum.per_second"] * duration_ns / 1e9, NCU_BYTES
    return None, ""


def calibrate(known: Mapping[str, float], kernels: tuple[Kernel, ...]) -> Calibration:
    """Return the calibration by the kernel that moves most among those whose bytes are `known` (by name) and were counted."""
    found = Calibration()
    most = 0.0
    for kernel in kernels:
        stated = known.get(kernel.name, 0.0)
        counted, _ = counted_bytes(kernel.counters, kernel.mean_ns or 0.0)
        if counted is not None and stated > most:
            most, found = stated, Calibration(kernel=kernel.name, ratio=counted / stated)
    return found
