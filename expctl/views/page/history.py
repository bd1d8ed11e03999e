"""Plots of what the experiments came to over time: the path of each target, its waterfall, noise, and predictions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from expctl.domain.experiment.figures import interval_text
from expctl.views.page.drawing import (
    WIDTH,
    Axis,
    around,
    dot,
    figure,
    flat_axis,
    label,
    line,
    mark,
    polyline,
    px,
    reach,
    signed,
    square,
    upright,
    upright_axis,
)
from expctl.views.page.effects import css_of, shape

if TYPE_CHECKING:
    from expctl.domain.ledger.account import Audited, EpochPath, Foretold, NoiseSeen
    from expctl.domain.ledger.kept_gains import Path
    from expctl.domain.ledger.record_summary import Interval

LEFT, TOP, HEIGHT = 56, 30, 230
FORETOLD_MOST = 200
BAR_MOST = 46
BARS_FROM, NAMES_FROM = 9, 44
"""Distances between steps of a path from which each shows its interval, and its id."""


def gain_text(effect: Interval) -> str:
    """Return the effect of several changes together as the ledger gives it, e.g. `+19.5 % [+18.6, +20.4]`."""
    percent, low, high = effect
    return f"{percent:+.1f} % [{low:+.1f}, {high:+.1f}]"


def path_plot(target: str, epochs: Sequence[EpochPath]) -> Markup:
    """Return the path of a target: what the kept changes add up to, epoch by epoch; each epoch begins at zero."""
    steps = [step for each in epochs if each.path for step in each.path.steps]
    if not steps:
        return Markup()
    ends = [end for step in steps for end in step.total]
    y_axis = around((0.0, *ends), start=TOP + HEIGHT, end=TOP)
    places = sum(1 + len(each.path.steps if each.path else ()) for each in epochs)
    x_axis = Axis(0, max(1, places), LEFT + 10, WIDTH - 12)
    parts = [upright_axis(y_axis, LEFT, WIDTH, "together, % faster than where the epoch began")]
    place = 0
    for each in epochs:
        parts += _epoch(each, x_axis, y_axis, place)
        place += 1 + len(each.path.steps if each.path else ())
    note = "Figures of two epochs don't compare, so every epoch begins at zero."
    return figure(f"path-{target}", f"Path of {target}", TOP + HEIGHT + 30, parts, note if len(epochs) > 1 else "")


def _epoch(epoch: EpochPath, x_axis: Axis, y_axis: Axis, place: int) -> Iterator[Markup]:
    x = x_axis.at(place)
    yield line(x - 6, TOP, x - 6, TOP + HEIGHT, "epoch")
    yield label(x - 2, TOP + HEIGHT + 16, f"epoch {epoch.number}", "faint", 12)
    steps = epoch.path.steps if epoch.path else ()
    points = [(x, y_axis.at(0.0))]
    for number, step in enumerate(steps, start=1):
        here = x_axis.at(place + number)
        points += [(here, points[-1][1]), (here, y_axis.at(step.total[0]))]
    end = x_axis.at(place + len(steps) + 1) - 8
    yield polyline([*points, (end, points[-1][1])], "course")
    apart = x_axis.at(1) - x_axis.at(0)
    for number, step in enumerate(steps, start=1):
        here, (percent, low, high) = x_axis.at(place + number), step.total
        told = f"{step.id}: {interval_text(*step.effect)}, in all {gain_text(step.total)} since {epoch.since}. {step.title}"
        bar = upright(here, y_axis.at(low), y_axis.at(high)) if apart > BARS_FROM else Markup()
        yield mark(told, "keep", bar, dot(here, y_axis.at(percent), 3.5 if apart > BARS_FROM else 2))
        yield label(here + 5, y_axis.at(percent) - 7, step.id, "keept") if apart > NAMES_FROM else Markup()


def waterfall_plot(path: Path, audited: Audited | None) -> Markup:
    """Return the waterfall of an epoch: each kept gain on top of those before, their product, and what an audit measured."""
    total = path.steps[-1].total
    bars = [(step.id, step.effect, step.total, "keep", f"{interval_text(*step.effect)}. {step.title}") for step in path.steps]
    bars.append(("together", total, total, "sum", f"{gain_text(total)}, the product of the recorded effects"))
    if audited is not None:
        measured = audited.effect
        told = f"{interval_text(*measured)}, all kept changes measured together again (finding {audited.finding})"
        bars.append(("measured", measured, measured, "audit", told))
    tops = [end for _, _, upto, _, _ in bars for end in upto]
    axis = around((0.0, *tops), start=TOP + HEIGHT, end=TOP)
    width = (WIDTH - LEFT - 10) / len(bars)
    parts, before = [upright_axis(axis, LEFT, WIDTH, "% faster than where the epoch began")], 0.0
    for number, (name, _, upto, kind, told) in enumerate(bars):
        middle, half = LEFT + 5 + width * (number + 0.5), min(BAR_MOST, 0.7 * width) / 2
        start = before if kind == "keep" else 0.0
        one, other = axis.at(start), axis.at(upto[0])
        block = Markup('<path class="bar" d="M{0} {1}V{2}h{3}V{1}z"/>').format(
            px(middle - half), px(one), px(other), px(2 * half)
        )
        parts.append(mark(f"{name}: {told}", kind, block, upright(middle, axis.at(upto[1]), axis.at(upto[2]))))
        if width > 34 or kind != "keep":
            parts.append(label(middle, TOP + HEIGHT + 16, name, "mid faint", 9))
        before = upto[0]
    note = "" if audited else "No audit has measured them together again: expctl audit --record"
    name = f"waterfall-{path.target}"
    return figure(name, f"Kept gains on {path.target} in epoch {path.epoch}", TOP + HEIGHT + 30, parts, note)


def noise_plot(target: str, seen: Sequence[NoiseSeen]) -> Markup:
    """Return the noise of a target over time: the standard deviation of one round in each experiment; lines part epochs."""
    axis = around((0.0, *(each.sd_percent for each in seen)), start=TOP + 120, end=TOP)
    axis = Axis(0.0, axis.high, axis.start, axis.end)
    places = Axis(0, max(1, len(seen)), LEFT + 12, WIDTH - 12)
    parts = [upright_axis(axis, LEFT, WIDTH, "standard deviation of one round, %")]
    before = None
    for number, each in enumerate(seen):
        x = places.at(number + 0.5)
        if each.epoch != before:
            edge = places.at(number)
            parts += [line(edge, TOP, edge, TOP + 120, "epoch"), label(edge + 3, TOP + 136, f"epoch {each.epoch}", "faint", 12)]
            before = each.epoch
        told = f"{each.id}, {each.date[:10]}: sd {each.sd_percent:.2f} %, epoch {each.epoch}"
        parts.append(mark(told, "noise", dot(x, axis.at(each.sd_percent), 3 if len(seen) < 200 else 2)))
    dates = " to ".join(dict.fromkeys((seen[0].date[:10], seen[-1].date[:10])))
    return figure(f"noise-{target}", f"Noise of {target}, {dates}", TOP + 150, parts)


def foretold_plot(found: Sequence[Foretold]) -> Markup:
    """Return predicted against measured gains, the newest FORETOLD_MOST: on the diagonal they agree."""
    shown = found[:FORETOLD_MOST]
    if not shown:
        return Markup()
    sideways = [end for each in shown for end in (each.low_percent, each.high_percent)]
    upwards = [end for each in shown for end in each.effect]
    height = 320
    x_axis = around((0.0, *sideways), start=LEFT, end=WIDTH - 20, bend=signed)
    y_axis = around((0.0, *upwards), start=TOP + height, end=TOP, bend=signed)
    low, high = max(x_axis.low, y_axis.low), min(x_axis.high, y_axis.high)
    bends = [low + (high - low) * part / 60 for part in range(61)]
    parts = [
        upright_axis(y_axis, LEFT, WIDTH - 20, "measured gain, % (both axes: linear within 1 %, then logarithmic)"),
        flat_axis(x_axis, TOP, TOP + height, "predicted gain, %"),
        polyline([(x_axis.at(each), y_axis.at(each)) for each in bends], "even"),
    ]
    thin = len(shown) > 60
    for each in shown:
        percent, below, above = each.effect
        middle, y = x_axis.at((each.low_percent + each.high_percent) / 2), y_axis.at(percent)
        verdict = each.forecast.verdict
        told = (
            f"{each.forecast.id}: predicted {each.low_percent:+g} to {each.high_percent:+g} %,"
            f" came {verdict} {interval_text(*each.effect)}"
        )
        shapes = [
            *([] if thin else [reach(x_axis.at(each.low_percent), x_axis.at(each.high_percent), y)]),
            *([] if thin else [upright(middle, y_axis.at(below), y_axis.at(above))]),
            square(middle, y, 2) if thin else shape(verdict, middle, y),
        ]
        parts.append(mark(told, css_of(verdict), *shapes))
    note = f"The newest {len(shown)} of {len(found)}." if len(found) > len(shown) else ""
    return figure("predictions", "Predicted against measured gain", TOP + height + 40, parts, note)
