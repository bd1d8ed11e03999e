"""The roofline of a profile as SVG: a numbered point for each kernel, and the roof of each number type."""

import math
from collections.abc import Mapping, Sequence

from markupsafe import Markup

from expctl.profiles.model.kernel_profile import Kernel
from expctl.profiles.roofline.ceilings import Position
from expctl.profiles.roofline.peaks import Peak
from expctl.profiles.views.colours import COLOURS

WIDTH, HEIGHT = 760, 360
LEFT, RIGHT, TOP, BOTTOM = 64, 30, 26, 40
_SVG = Markup(
    '<svg viewBox="0 0 {width} {height}" role="img" aria-label="roofline: TFLOP/s over FLOP per byte"'
    ' xmlns="http://www.w3.org/2000/svg">{parts}</svg>'
)
_LINE = Markup('<polyline class="{kind}" points="{points}"/>')
_TEXT = Markup('<text x="{x:.1f}" y="{y:.1f}" class="{kind}">{text}</text>')
_POINT = Markup(
    '<g><circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="{colour}"><title>{title}</title></circle>'
    '<text x="{tx:.1f}" y="{ty:.1f}" class="label">{number}</text></g>'
)


def roofline_svg(
    kernels: Sequence[Kernel], positions: Mapping[str, Position], peak: Peak | None, short: Mapping[str, str]
) -> str:
    """Return the roofline as SVG text, "" if FLOP and bytes are known of no kernel. Points have the places of `kernels`, from 1
    on, as numbers; `short` are names by kernel.
    """
    points = [
        (number, kernel, place)
        for number, kernel in enumerate(kernels, 1)
        if (place := positions.get(kernel.name)) and place.flop_per_byte and place.tflops
    ]
    if not points:
        return ""
    roofs = {place.kind: most for _, _, place in points if peak and (most := peak.tflops(place.kind))}
    bandwidth = peak.bandwidth_gbs if peak else None
    ridges = [most * 1e3 / bandwidth for most in roofs.values()] if bandwidth else []
    x = _Log([*(place.flop_per_byte or 1.0 for _, _, place in points), *ridges], LEFT, WIDTH - RIGHT)
    y = _Log([*(place.tflops or 1.0 for _, _, place in points), *roofs.values()], HEIGHT - BOTTOM, TOP)
    parts = [*x.grid(vertical=True), *y.grid(vertical=False)]
    for kind, most in roofs.items():
        parts += _roof(kind, most, bandwidth, x, y)
    for number, kernel, place in points:
        at = (x.at(place.flop_per_byte or 1.0), y.at(place.tflops or 1.0))
        title = f"{number}: {short[kernel.name]}, {place.tflops:.3f} TFLOP/s, {place.flop_per_byte:.1f} FLOP per byte"
        parts.append(
            _POINT.format(x=at[0], y=at[1], tx=at[0] + 8, ty=at[1] + 4, colour=COLOURS[kernel.kind], title=title, number=number)
        )
    parts.append(_TEXT.format(x=WIDTH / 2, y=HEIGHT - 6, kind="axis", text="FLOP per byte"))
    parts.append(_TEXT.format(x=4, y=TOP - 12, kind="axis", text="TFLOP/s"))
    return str(_SVG.format(width=WIDTH, height=HEIGHT, parts=Markup("").join(parts)))


def _roof(kind: str, most: float, bandwidth: float | None, x: "_Log", y: "_Log") -> list[Markup]:
    start = most * 1e3 / bandwidth if bandwidth else x.low
    corners = [(start, most), (x.high, most)]
    if bandwidth:
        least = max(x.low, y.low * 1e3 / bandwidth)
        corners.insert(0, (least, least * bandwidth / 1e3))
    drawn = " ".join(f"{x.at(a):.1f},{y.at(b):.1f}" for a, b in corners)
    text = f"{kind}: {most:.0f} TFLOP/s" + (f", {bandwidth:.0f} GB/s" if bandwidth else "")
    label = _TEXT.format(x=x.at(x.high) - 6, y=y.at(most) - 5, kind="roof end", text=text)
    return [_LINE.format(kind="roof", points=drawn), label]


class _Log:
    """A logarithmic axis of whole decades around `values`, from coordinate `start` to `end`."""

    def __init__(self, values: Sequence[float], start: float, end: float) -> None:
        self.low = 10.0 ** math.floor(math.log10(min(values) / 1.5))
        self.high = 10.0 ** math.ceil(math.log10(max(values) * 1.5))
        self._start, self._end = start, end

    def at(self, value: float) -> float:
        """Return the coordinate of a positive value."""
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self._start + share * (self._end - self._start)

    def grid(self, *, vertical: bool) -> list[Markup]:
        """Return a line and a label for each decade."""
        found = []
        for power in range(round(math.log10(self.low)), round(math.log10(self.high)) + 1):
            at = self.at(10.0**power)
            ends = ((at, TOP), (at, HEIGHT - BOTTOM)) if vertical else ((LEFT, at), (WIDTH - RIGHT, at))
            found.append(_LINE.format(kind="grid", points=" ".join(f"{a:.1f},{b:.1f}" for a, b in ends)))
            place = (at, HEIGHT - BOTTOM + 16) if vertical else (LEFT - 6, at + 4)
            found.append(_TEXT.format(x=place[0], y=place[1], kind="tick" if vertical else "tick end", text=f"{10.0**power:g}"))
        return found
