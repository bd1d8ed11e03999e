"""Format the figures that a comparison of profiles shows as short text."""

from expctl.profiles.model.kernel_profile import Extent

UNKNOWN = "?"
_SCALES = ((1e9, "G"), (1e6, "M"), (1e4, "k"))
_DIVISORS = {"G": 1e9, "M": 1e6, "k": 1e3}


def count_text(value: float | None) -> str:
    """Return a count with three digits and a unit prefix, e.g. `13.5 M` or `4.44 G`; `?` for None."""
    if value is None:
        return UNKNOWN
    unit = next((name for scale, name in _SCALES if abs(value) >= scale), "")
    return f"{value / _DIVISORS[unit]:.3g} {unit}" if unit else f"{value:.4g}"


def times_text(value: float) -> str:
    """Return a factor as text, e.g. `3.37 times`."""
    return f"{value:.3g} times"


def bytes_text(value: int | None) -> str:
    """Return a number of bytes as text, e.g. `8704 B`; `?` for None."""
    return UNKNOWN if value is None else f"{value} B"


def extent_text(extent: Extent | None) -> str:
    """Return an extent (x, y, z) as text, without its last axes of size 1, e.g. `32x32` or `256`; `?` for None."""
    if extent is None:
        return UNKNOWN
    x, y, z = extent
    return f"{x}x{y}x{z}" if z != 1 else f"{x}x{y}" if y != 1 else str(x)


def percent_text(value: float) -> str:
    """Return a ratio as a change in percent, e.g. `+5.2 %`, or from a factor of 3 on as `4.00 times` or `1/4.00 times`."""
    if value <= 1 / 3:
        return f"1/{_factor_text(1 / value)} times"
    return f"{_factor_text(value)} times" if value >= 3 else f"{100 * (value - 1):+.1f} %"


def _factor_text(value: float) -> str:
    return f"{value:.2f}" if value < 1000 else f"{value:.3g}"
