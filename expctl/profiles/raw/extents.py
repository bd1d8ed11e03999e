"""Sizes of grids and workgroups in x, y and z."""

from collections.abc import Sequence

from expctl.profiles.model.kernel_profile import Extent

AXES = ("x", "y", "z")


def extent(values: Sequence[int | None]) -> Extent | None:
    """Return the three `values` as (x, y, z); None unless all of them are positive."""
    x, y, z = values
    return (x, y, z) if x and y and z and min(x, y, z) > 0 else None
