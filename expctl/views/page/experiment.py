"""The part of the page that shows one experiment: its rounds as points, how its times spread, and the rest in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup, escape

from expctl.domain.experiment.figures import TIME_UNITS, effect_text, time_text
from expctl.domain.text import is_unseen
from expctl.domain.verdict.side import Side
from expctl.views.page.drawing import (
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
    polyline,
    square,
    upright,
    upright_axis,
)

if TYPE_CHECKING:
    from expctl.domain.experiment.record import Fact
    from expctl.domain.queue.dependency_answer import Profile
    from expctl.domain.verdict.plot_data import Picture
    from expctl.domain.verdict.spread import Quantile, SideSpread

LEFT, TOP, HEIGHT = 56, 30, 210
LETTER = 6.0
"""Width of a letter of a label, about."""
GAP = 1.5
"""Distance between search and confirmation, in rounds."""
PATCH_LINES, PATCH_WIDTH = 300, 200
ROUNDS_NOTE = (
    "A point is one round, the line their mean so far. Green: a mean above it is confirmed, or kept. Red: a mean below it is"
    " futile. At the end the estimate with its 95 % interval."
)
TAILS_HEIGHT = 130
SHARES = (100.0, 50.0, 10.0, 1.0, 0.1)


class Difference(NamedTuple):
    """One figure of a build or profile on both sides, as text; "" where a side lacks it."""

    name: str
    baseline: str
    candidate: str


def rounds_plot(picture: Picture) -> Markup:
    """Return the rounds of an experiment as points, with running means, the borders at each look, and the estimate."""
    caption = picture.caption
    y_axis = around(_levels(picture), start=TOP + HEIGHT, end=TOP)
    searched, confirmed = len(picture.search), len(picture.confirm)
    last = searched + confirmed + (GAP if confirmed else 0)
    x_axis = Axis(0, last + max(1.5, 0.06 * last), LEFT, WIDTH - 8)
    places = [x_axis.at(n + 1 + (GAP if n >= searched else 0)) for n in range(searched + confirmed)]
    parts = [upright_axis(y_axis, LEFT, WIDTH, "faster than the baseline, %")]
    parts += _borders(picture, places, y_axis)
    free = 0.0  # from here on nothing is written below the axis
    for values, means, at, kind, name in (
        (picture.search, picture.search_means, places[:searched], "search", "search"),
        (picture.confirm, picture.confirm_means, places[searched:], "confirm", "confirmation"),
    ):
        parts.append(polyline([(x, y_axis.at(mean)) for x, mean in zip(at, means, strict=True)], f"mean {kind}"))
        for number, (x, value, mean) in enumerate(zip(at, values, means, strict=True), start=1):
            told = f"{name}, round {number}: {value:+.2f} %, mean so far {mean:+.2f} %"
            parts.append(mark(told, kind, dot(x, y_axis.at(value), 3) if kind == "search" else diamond(x, y_axis.at(value), 4)))
        if at:
            words, begin = f"{name}, {len(values)} rounds", max(at[0] - 4, free)
            parts.append(label(begin, TOP + HEIGHT + 16, words, "faint"))
            free = begin + LETTER * len(words) + 10
    if picture.estimate is not None:
        each, x = picture.estimate, x_axis.at(last + max(0.8, 0.03 * last))
        bar = upright(x, y_axis.at(each.low_percent), y_axis.at(each.high_percent))
        parts.append(mark(f"estimate: {effect_text(each)}", "estimate", bar, square(x, y_axis.at(each.effect_percent), 4)))
    return figure(
        f"{caption.id}-rounds", f"{caption.id}: rounds of both sides, in pairs", TOP + HEIGHT + 28, parts, ROUNDS_NOTE
    )


def _levels(picture: Picture) -> list[float]:
    """Return the values for which the axis has room: all but the borders of early looks, which lie far out."""
    last = [value for look in picture.looks[-1:] for value in (look.keep, look.futile)]
    above = [] if picture.confirm_above is None else [picture.confirm_above]
    estimate = [picture.estimate.low_percent, picture.estimate.high_percent] if picture.estimate else []
    return [0.0, *picture.search, *picture.confirm, *last, *above, *estimate]


def _borders(picture: Picture, places: Sequence[float], y_axis: Axis) -> Iterator[Markup]:
    for border, kind in (("keep", "gain"), ("futile", "lose")):
        seen = [(look.rounds, getattr(look, border)) for look in picture.looks]
        inside = [(rounds, value) for rounds, value in seen if y_axis.low <= value <= y_axis.high]
        yield polyline([(places[rounds - 1], y_axis.at(value)) for rounds, value in inside], f"border {kind}")
        for rounds, value in inside:
            goes = "above it a mean goes to the confirmation" if border == "keep" else "below it a mean is futile"
            shape = square(places[rounds - 1], y_axis.at(value), 2.5)
            yield mark(f"look after {rounds} rounds, {value:+.2f} %: {goes}", kind, shape)
    if picture.confirm_above is not None and picture.confirm:
        y = y_axis.at(picture.confirm_above)
        bar = line(places[len(picture.search)], y, places[-1], y, "border gain")
        yield mark(f"confirmed only above {picture.confirm_above:+.2f} %", "gain", bar)


def tails_plot(name: str, size: str, spreads: Sequence[SideSpread]) -> Markup:
    """Return which share of the iterations of each side was slower than a time, at one size; the tail is at the bottom."""
    mine = [each for each in spreads if each.size == size]
    times = [quantile.ns for each in mine for quantile in each.quantiles]
    scale, unit = next(((scale, unit) for scale, unit in TIME_UNITS if min(times) >= scale), (1.0, "ns"))
    least = min(_slower(quantile) or 50.0 for each in mine for quantile in each.quantiles) / 2
    x_axis = around((ns / scale for ns in times), start=LEFT, end=WIDTH - 20)
    y_axis = Axis(least, 100.0, TOP + TAILS_HEIGHT, TOP, math.log10)
    parts = [flat_axis(x_axis, TOP, y_axis.start, f"time of one iteration, {unit}")]
    for share in (each for each in SHARES if each > least):
        parts.append(line(LEFT, y_axis.at(share), WIDTH - 20, y_axis.at(share), "grid"))
        parts.append(label(LEFT - 6, y_axis.at(share) + 4, f"{share:g} %", "tick end"))
    parts.append(label(LEFT, TOP - 8, "share of iterations that took longer", "faint"))
    for number, each in enumerate(mine):
        points = [(x_axis.at(quantile.ns / scale), y_axis.at(_slower(quantile))) for quantile in each.quantiles]
        parts.append(polyline(points, f"mean {each.side}"))
        for (x, y), quantile in zip(points, each.quantiles, strict=True):
            parts.append(mark(_told(each, quantile), each.side, _side_shape(each.side, x, y)))
        key = TOP + 14 + 18 * number
        parts += [_side_shape(each.side, WIDTH - 100, key - 4), label(WIDTH - 90, key, each.side, f"{each.side}t")]
    return figure(f"{name}-times-{size}", f"Times of single iterations at {size}", TOP + TAILS_HEIGHT + 32, parts)


def _slower(quantile: Quantile) -> float:
    """Return the percentage of iterations that took longer than a quantile's time."""
    return round(100 - quantile.percent, 1)


def _told(spread: SideSpread, quantile: Quantile) -> str:
    if quantile.percent == 100:
        return f"{spread.side}: the slowest of {spread.iterations} iterations took {time_text(quantile.ns)}"
    share = f"{quantile.percent:g} % of {spread.iterations} iterations"
    return f"{spread.side}: {share} took at most {time_text(quantile.ns)}"


def _side_shape(side: Side, x: float, y: float) -> Markup:
    shape = dot(x, y, 3) if side is Side.BASELINE else diamond(x, y, 4)
    return Markup('<g class="key {}">{}</g>').format(side, shape)


def differences(profile: Profile) -> list[Difference]:
    """Return the facts of both sides' profiles side by side, in the order of the baseline's; guards' facts come last."""
    rows = []
    keys = [key.removesuffix("baseline") for key in profile if key.endswith("baseline")]
    for key in sorted(keys, key=len):
        sides = [{each.name: each for each in profile.get(f"{key}{side}", ())} for side in ("baseline", "candidate")]
        for name in dict.fromkeys([*sides[0], *sides[1]]):
            texts = [_fact(side[name]) if name in side else "" for side in sides]
            rows.append(Difference(f"{key}{name}", *texts))
    return rows


def _fact(fact: Fact) -> str:
    return f"{fact.value:.12g}{f' {fact.unit}' if fact.unit else ''}"


def patch_html(patch: str, path: str) -> Markup:
    """Return a patch as escaped text whose added and removed lines are marked; a long one is cut, and `path` names its file."""
    lines = patch.split("\n")
    shown = [_patch_line(text) for text in lines[:PATCH_LINES]]
    more = len(lines) - PATCH_LINES
    tail = Markup("\n{}").format(f"… {more} more lines: {path}") if more > 0 else Markup()
    return Markup("\n").join(shown) + tail


def line_kept(text: str) -> Markup:
    """Return one line of a file or terminal, escaped, with its spaces and without control or bidirectional characters."""
    return escape(_clean(text))


def _patch_line(text: str) -> Markup:
    clean = _clean(text)
    clean = clean if len(clean) <= PATCH_WIDTH else clean[: PATCH_WIDTH - 1] + "…"
    tag = "" if clean.startswith(("+++", "---")) else {"+": "ins", "-": "del", "@": "b"}.get(clean[:1], "")
    return Markup("<{0}>{1}</{0}>").format(tag, clean) if tag else escape(clean)


def _clean(text: str) -> str:
    return "".join(letter for letter in text.expandtabs(4) if not is_unseen(letter))
