"""Plots of effects with their intervals: the forest plot of all experiments, and the small one in each row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from expctl.domain.experiment.figures import interval_text
from expctl.views.page.drawing import (
    LINE,
    WIDTH,
    Axis,
    around,
    diamond,
    dot,
    figure,
    flat_axis,
    label,
    line,
    mark,
    px,
    reach,
    signed,
    square,
)

if TYPE_CHECKING:
    from expctl.domain.experiment.proposal import Verdict
    from expctl.domain.experiment.record import Estimate
    from expctl.domain.ledger.record_summary import Interval
    from expctl.domain.ledger.rows import Row
    from expctl.domain.protocol.model import KeepRule

FOREST_ROWS = 60
FOREST_NOTE = "A dot is a KEEP, a diamond a REJECT, a square anything else."
LEFT, RIGHT, TOP = 330, 700, 34
ROW_WIDTH, ROW_HEIGHT = 150, 16
ROW_PLOT = Markup(
    '<svg class="iv {}" viewBox="0 0 {} {}" aria-hidden="true"><path class="zero" d="M{} 0V{}"/><path d="M{} {}H{}"/>{}</svg>'
)
SHAPES = {"KEEP": dot, "REJECT": diamond}


def effect_of(row: Row) -> Interval | None:
    """Return the measured effect of an experiment, with its interval; None if it was not timed."""
    if row.effect_percent is None or row.low_percent is None or row.high_percent is None:
        return None
    return row.effect_percent, row.low_percent, row.high_percent


def shape(verdict: str, x: float, y: float) -> Markup:
    """Return the shape of a verdict's mark, which tells it apart without colours."""
    return SHAPES.get(verdict, square)(x, y)


def css_of(verdict: Verdict | str) -> str:
    """Return the CSS class of a verdict."""
    return str(verdict).lower()


def row_axis(rows: Sequence[Row]) -> Axis | None:
    """Return the common axis of the small plots in all rows; None if nothing was timed."""
    ends = [end for row in rows if (effect := effect_of(row)) for end in effect]
    return around((0.0, *ends), start=4, end=ROW_WIDTH - 4, bend=signed) if ends else None


def row_plot(row: Row, axis: Axis | None) -> Markup:
    """Return the small plot of one row: its interval, its effect, and zero."""
    effect = effect_of(row)
    if effect is None or axis is None:
        return Markup()
    percent, low, high = effect
    y = ROW_HEIGHT / 2
    x1, x2, zero = px(axis.at(low)), px(axis.at(high)), px(axis.at(0))
    place = shape(row.verdict, axis.at(percent), y)
    return ROW_PLOT.format(css_of(row.verdict), ROW_WIDTH, ROW_HEIGHT, zero, ROW_HEIGHT, x1, px(y), x2, place)


def forests(rows: Sequence[Row], keep: KeepRule) -> list[Markup]:
    """Return forest plots of all timed experiments, the newest first, FOREST_ROWS in each, all on one axis."""
    timed = [(row, effect) for row in rows if (effect := effect_of(row))]
    if not timed:
        return []
    borders = _borders(keep)
    ends = [end for _, effect in timed for end in effect]
    axis = around((0.0, *(at for _, at, _ in borders), *ends), start=LEFT, end=RIGHT, bend=signed)
    found = []
    for first in range(0, len(timed), FOREST_ROWS):
        block = timed[first : first + FOREST_ROWS]
        title = f"Effects with 95 % intervals, {block[0][0].id} to {block[-1][0].id}"
        height = TOP + LINE * len(block) + 36
        found.append(figure(f"effects-{1 + first}", title, height, _forest(block, axis, borders), FOREST_NOTE))
    return found


def _borders(keep: KeepRule) -> list[tuple[str, float, str]]:
    """Return the borders of the keep rule: what each says, where it lies in percent, its class."""
    return [
        (f"no size may lose {keep.guard_percent:g} %", -keep.guard_percent, "lose"),
        (f"worth it from {keep.worthwhile_percent:+g} %", keep.worthwhile_percent, "gain"),
    ]


def _forest(block: Sequence[tuple[Row, Interval]], axis: Axis, borders: Sequence[tuple[str, float, str]]) -> Iterator[Markup]:
    bottom = TOP + LINE * len(block)
    yield flat_axis(axis, TOP, bottom, "faster than its baseline, %: linear within 1 %, then logarithmic")
    for words, percent, kind in borders:
        x = axis.at(percent)
        side = "end" if percent < 0 else ""
        yield line(x, TOP - 6, x, bottom, f"border {kind}")
        yield label(x + (-4 if percent < 0 else 4), TOP - 10, words, f"{side} {kind}t".strip())
    for number, (row, effect) in enumerate(block):
        y = TOP + LINE * (number + 0.5)
        percent, low, high = effect
        told = f"{row.id} {row.verdict} on {row.target}: {interval_text(*effect)}. {row.title}"
        shapes = reach(axis.at(low), axis.at(high), y), shape(row.verdict, axis.at(percent), y)
        yield label(0, y + 4, f"{row.id}  {row.title}", limit=52)
        yield mark(told, css_of(row.verdict), *shapes)
        yield label(WIDTH, y + 4, interval_text(*effect), f"end {css_of(row.verdict)}t")


def sizes_plot(name: str, estimates: Sequence[Estimate], verdict: str) -> Markup:
    """Return the forest plot of one experiment: the effect at each size, and on the objective."""
    if not estimates:
        return Markup()
    ends = [end for each in estimates for end in (each.low_percent, each.high_percent)]
    axis = around((0.0, *ends), start=110, end=RIGHT, bend=signed)
    top = 8
    bottom = top + LINE * len(estimates)
    parts = [flat_axis(axis, top, bottom, "faster than the baseline, %")]
    for number, each in enumerate(estimates):
        y = top + LINE * (number + 0.5)
        text = interval_text(each.effect_percent, each.low_percent, each.high_percent)
        shapes = (
            reach(axis.at(each.low_percent), axis.at(each.high_percent), y),
            shape(verdict, axis.at(each.effect_percent), y),
        )
        parts += [label(0, y + 4, each.size, limit=16), mark(f"{each.size}: {text}", css_of(verdict), *shapes)]
        parts.append(label(WIDTH, y + 4, text, "end"))
    return figure(f"{name}-sizes", "Effect at each size", bottom + 34, parts)
