"""The item on kernels in Triton's cache, by the formula that ROCm's guide gives for what Triton dumps."""

from collections.abc import Iterator

from expctl.domain.environment.item import Item, Seen, good, has_amd, poor
from expctl.domain.environment.snapshot import Snapshot, TritonKernel

SIMDS = 4


def waves_by_registers(kernel: TritonKernel) -> int:
    """Return how many of its waves fit a SIMD by their vector registers alone."""
    granule = kernel.vgpr_granule
    return min(kernel.waves_most, kernel.vgpr_total // max(-(-kernel.vgpr // granule) * granule, granule))


def waves_per_simd(kernel: TritonKernel) -> float:
    """Return min(floor(V * 4 / W), floor(LDS of the unit / LDS used)) * W / 4, for V waves by registers and W warps. Triton's
    LDS may be 0, which limits nothing.
    """
    groups = waves_by_registers(kernel) * SIMDS // kernel.warps
    if kernel.lds:
        groups = min(groups, kernel.lds_unit // kernel.lds)
    return groups * kernel.warps / SIMDS


def _look(snapshot: Snapshot) -> Iterator[Seen]:
    idle = [each for each in snapshot.triton if waves_per_simd(each) < 1]
    for each in idle[:3]:
        limit = (
            f"{each.lds} bytes of LDS"
            if each.lds * waves_by_registers(each) * SIMDS > each.lds_unit * each.warps
            else f"{each.vgpr} VGPRs"
        )
        yield poor(f"{each.name} fills {waves_per_simd(each):g} waves of a SIMD of {each.arch}: {each.warps} warps, {limit}")
    if rest := len(idle) - 3:
        yield from [poor(f"and {rest} more")] if rest > 0 else []
    if not idle:
        yield good(f"each of {len(snapshot.triton)} kernels gives every SIMD a wave")


ITEMS = (
    Item(
        name="occupancy of Triton's kernels",
        where="Triton on an AMD GPU",
        why="with less than one wave for each SIMD some of them never have work, whatever the kernel does",
        fix="more num_warps, or a smaller block or fewer num_stages, so that several workgroups fit a compute unit",
        applies=lambda snapshot: has_amd(snapshot) and bool(snapshot.triton),
        look=_look,
    ),
)
