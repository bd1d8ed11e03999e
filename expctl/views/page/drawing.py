"""The elements of a plot as SVG: axes, marks that say what they are, and a figure around it. All text is escaped.

Coordinates are SVG units; a plot is WIDTH units wide. Colours and fonts are classes, which page.css defines once for light,
dark and print.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from expctl.domain.text import one_line

WIDTH = 900
LINE = 18
STEPS = (1.0, 2.0, 5.0)
SIGNED_TICKS = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)

# The div scrolls where the page is narrow, so it must be reachable by keyboard.
FIGURE = Markup(
    '<figure data-name="{name}"><figcaption>{title}</figcaption>'
    '<div class="scroll" tabindex="0" role="group" aria-label="{title}">'
    '<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="{title}">{parts}</svg>'
    "</div>{note}</figure>"
)


@dataclass(frozen=True, slots=True)
class Axis:
    """Maps values from `low` to `high` to coordinates from `start` to `end`, by a monotonous function `bend`."""

    low: float
    high: float
    start: float
    end: float
    bend: Callable[[float], float] = float

    def at(self, value: float) -> float:
        """Return the coordinate of `value`; values beyond the axis are drawn at its end."""
        low, high, place = self.bend(self.low), self.bend(self.high), self.bend(min(max(value, self.low), self.high))
        return self.start + (place - low) / (high - low) * (self.end - self.start)


def around(values: Iterable[float], *, start: float, end: float, bend: Callable[[float], float] = float) -> Axis:
    """Return an axis with room for all `values` (at least one) and a margin."""
    known = [*values]
    low, high = bend(min(known)), bend(max(known))
    margin = 0.05 * (high - low) or 0.5
    inverse = _unbent if bend is signed else float
    return Axis(inverse(low - margin), inverse(high + margin), start, end, bend)


def signed(percent: float) -> float:
    """Bend an effect so that small ones and large ones are legible at once: linear within 1 %, then logarithmic."""
    return math.asinh(percent)


def _unbent(place: float) -> float:
    return math.sinh(place)


def ticks(axis: Axis, most: int = 7) -> list[float]:
    """Return round values on an axis, at most about `most`; those of a signed axis are also round, and include zero."""
    if axis.bend is signed:
        every = [-value for value in reversed(SIGNED_TICKS)] + [0.0, *SIGNED_TICKS]
        inside = [value for value in every if axis.low <= value <= axis.high]
        room = abs(axis.end - axis.start) / most / 2
        kept: list[float] = []
        for value in sorted(inside, key=lambda each: (each != 0, abs(each))):
            if all(abs(axis.at(value) - axis.at(other)) > room for other in kept):
                kept.append(value)
        return sorted(kept)
    rough = (axis.high - axis.low) / most
    power = 10 ** math.floor(math.log10(rough))
    step = next((factor * power for factor in STEPS if factor * power >= rough), 10 * power)
    first = math.ceil(axis.low / step)
    return [round(number * step, 10) for number in range(first, math.floor(axis.high / step) + 1)]


def px(value: float) -> str:
    """Return a coordinate with one decimal at most."""
    return f"{value:.1f}".removesuffix(".0")


def label(x: float, y: float, text: object, kind: str = "", limit: int = 80) -> Markup:
    """Return a text whose baseline begins at (x, y). Of its classes `kind`, `end` and `mid` align it, `faint` and `tick` style
    it.
    """
    return Markup('<text x="{}" y="{}" class="{}">{}</text>').format(px(x), px(y), kind, one_line(str(text), limit))


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    """Return a straight line of the classes `kind`."""
    return Markup('<path class="{}" d="M{} {}L{} {}"/>').format(kind, px(x1), px(y1), px(x2), px(y2))


def polyline(points: Sequence[tuple[float, float]], kind: str) -> Markup:
    """Return a line through `points`; "" for fewer than two."""
    if len(points) < 2:
        return Markup()
    return Markup('<path class="{}" d="M{}"/>').format(kind, "L".join(f"{px(x)} {px(y)}" for x, y in points))


def mark(told: str, kind: str, *shapes: Markup) -> Markup:
    """Return shapes that are one mark of a plot: `told` is what it shows, in words, for who points at it."""
    return Markup('<g class="m {}"><title>{}</title>{}</g>').format(kind, one_line(told), Markup().join(shapes))


def dot(x: float, y: float, radius: float = 3.5) -> Markup:
    """Return a round dot."""
    return Markup('<circle cx="{}" cy="{}" r="{:g}"/>').format(px(x), px(y), radius)


def diamond(x: float, y: float, radius: float = 4.5) -> Markup:
    """Return a diamond."""
    return Markup('<path d="M{0} {1}l{2:g} -{2:g}l{2:g} {2:g}l-{2:g} {2:g}z"/>').format(px(x - radius), px(y), radius)


def square(x: float, y: float, radius: float = 3.0) -> Markup:
    """Return a square."""
    return Markup('<path d="M{0} {1}h{2:g}v{2:g}h-{2:g}z"/>').format(px(x - radius), px(y - radius), 2 * radius)


def reach(x1: float, x2: float, y: float) -> Markup:
    """Return a horizontal interval with end caps."""
    return Markup('<path d="M{} {}v6m0-3H{}m0-3v6"/>').format(px(x1), px(y - 3), px(x2))


def upright(x: float, y1: float, y2: float) -> Markup:
    """Return an upright interval with end caps."""
    return Markup('<path d="M{} {}h6m-3 0V{}m-3 0h6"/>').format(px(x - 3), px(y1), px(y2))


def flat_axis(axis: Axis, top: float, bottom: float, unit: str = "") -> Markup:
    """Return the grid lines of a horizontal axis from `top` to `bottom`, with a number below each; zero is drawn stronger."""
    parts = []
    for value in ticks(axis):
        x = axis.at(value)
        parts.append(line(x, top, x, bottom, "zero" if value == 0 else "grid"))
        parts.append(label(x, bottom + 14, f"{value:g}", "tick mid"))
    parts.append(label(axis.end, bottom + 28, unit, "faint end", 120) if unit else Markup())
    return Markup().join(parts)


def upright_axis(
    axis: Axis, left: float, right: float, unit: str = "", write: Callable[[float], str] = "{:g}".format
) -> Markup:
    """Return the grid lines of an upright axis from `left` to `right`, with a number left of each; `write` makes its text."""
    parts = []
    for value in ticks(axis, 6):
        y = axis.at(value)
        parts.append(line(left, y, right, y, "zero" if value == 0 else "grid"))
        parts.append(label(left - 6, y + 4, write(value), "tick end"))
    parts.append(label(left, min(axis.start, axis.end) - 8, unit, "faint", 120) if unit else Markup())
    return Markup().join(parts)


def figure(name: str, title: str, height: float, parts: Iterable[Markup], note: object = "") -> Markup:
    """Return a plot as an HTML figure with caption. `name` names the file as which it can be saved; `note` stands below it."""
    return FIGURE.format(
        name=name,
        title=title,
        width=WIDTH,
        height=px(height),
        parts=Markup().join(parts),
        note=Markup('<p class="note">{}</p>').format(note) if note else "",
    )
