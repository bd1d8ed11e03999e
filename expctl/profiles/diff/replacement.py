"""Say in figures how a kernel differs from the one that it replaced, e.g. one's own product from a library's."""

import math
import re
from collections.abc import Iterator

from expctl.domain.layout import cut_middle
from expctl.domain.text import plain_text
from expctl.profiles.diff.figures import count_text
from expctl.profiles.diff.kernel_evidence import TENSOR
from expctl.profiles.diff.kernel_pairs import short_name
from expctl.profiles.model.kernel_profile import Kernel

NAME_SHOWN = 60
# Tiles as generators of kernels write them into names: Tensile, CUTLASS 2 and 3, cuBLAS (nvjet, xmma), Triton of torch.
_TILES = tuple(
    re.compile(pattern)
    for pattern in (
        r"_MT(\d+)x(\d+)x(\d+)", r"tilesize(\d+)x(\d+)x(\d+)", r"gemm_\w*?_(\d+)x(\d+)_(\d+)x\d+_",
        r"^nvjet_\w+?_(\d+)x(\d+)_(\d+)x\d+",
    )
)  # fmt: skip
_SPLITS = re.compile(r"_GSU(\d+)(?:_|$)|split_?k_?(\d+)|splitK(\d+)", re.IGNORECASE)


def replacement_words(before: Kernel, after: Kernel) -> str:
    """Return what differs between `before` and the kernel `after` that stands in its place, with a figure for each side.

    Figures are the tile and split of the sum in the names, elements of the result per workgroup and work-item, occupancy that
    fits, and the share of the arithmetic peak. A figure that isn't known of both sides is left out, and so is one that reads
    the same of both.
    """
    name = cut_middle(plain_text(short_name(before)), NAME_SHOWN)
    parts = [f"{what} {mine} -> {its}" for what, mine, its in _figures(before, after) if mine and its and mine != its]
    return f"it stands in place of {name}: {', '.join(parts)}" if parts else f"it stands in place of {name}"


def _figures(before: Kernel, after: Kernel) -> Iterator[tuple[str, str, str]]:
    yield "tile", tile_of(before.name), tile_of(after.name)
    yield "split of the sum", split_of(before.name), split_of(after.name)
    mine, its = _per_group(before), _per_group(after)
    yield "results per workgroup", count_text(mine) if mine else "", count_text(its) if its else ""
    mine, its = _per_item(before), _per_item(after)
    yield "per work-item", count_text(mine) if mine else "", count_text(its) if its else ""
    yield "occupancy", _occupancy(before), _occupancy(after)
    yield "share of the arithmetic peak", _peak(before), _peak(after)


def tile_of(name: str) -> str:
    """Return the tile MxNxK that a generated kernel has in its name, e.g. `128x128x32`; "" where it has none."""
    return next(("x".join(found.groups()) for pattern in _TILES if (found := pattern.search(name))), "")


def split_of(name: str) -> str:
    """Return into how many parts a generated kernel splits the sum (split-K), as its name says it; "" where it doesn't."""
    found = _SPLITS.search(name)
    return next((each for each in found.groups() if each), "") if found else ""


def _per_group(kernel: Kernel) -> float | None:
    groups = kernel.launch.groups
    return kernel.results / groups if kernel.results and groups and len(kernel.launches) == 1 else None


def _per_item(kernel: Kernel) -> float | None:
    of_group, size = _per_group(kernel), kernel.launch.workgroup_size
    return of_group / size if of_group and size else None


def _occupancy(kernel: Kernel) -> str:
    return f"{kernel.occupancy.resident[0].percent:.0f} %" if kernel.occupancy else ""


def _peak(kernel: Kernel) -> str:
    counted = kernel.counters.get(TENSOR)
    share = counted if counted is not None else kernel.peak_percent
    return f"{share:.1f} %" if share is not None and math.isfinite(share) else ""
