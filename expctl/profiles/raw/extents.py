"""Extents of grids and workgroups in three dimensions, as profilers name them."""

from __future__ import annotations

from collections.abc import Sequence

from expctl.profiles.model.kernel_profile import Extent

AXES = ("x", "y", "z")


def extent(values: Sequence[int | None]) -> Extent | None:
    """Three positive extents, or None."""
    x, y, z = values
    return (x, y, z) if x and y and z and min(x, y, z) > 0 else None
