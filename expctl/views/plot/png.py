"""Draw the rounds of an experiment as a PNG or SVG file. It loads matplotlib, which is optional."""

from typing import TYPE_CHECKING, Any

from expctl.domain.experiment.figures import effect_text
from expctl.domain.text import one_line
from expctl.domain.verdict.plot_data import Picture
from expctl.views.plot.figure_file import BAD, COLOURS, FAINT, GOOD, INK, figure_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HEIGHT_INCHES = 5.2
SEARCH, CONFIRM = "#4c78a8", "#e07b39"
GAP = 1.5  # distance between the two sessions, in rounds


def figure_bytes(picture: Picture, suffix: str) -> bytes:
    """Return a plot of an experiment's rounds as the bytes of a file; `suffix` is `png` or `svg`. Equal input gives equal
    bytes. Raises ImportError without matplotlib.
    """
    return figure_file(lambda figure: _draw(figure, picture), suffix, height_inches=HEIGHT_INCHES)


def _draw(figure: "Figure", picture: Picture) -> None:
    figure.subplots_adjust(left=0.085, right=0.97, top=0.86, bottom=0.18)
    axes = figure.add_subplot()
    places = _draw_rounds(axes, picture)
    _draw_boundaries(axes, picture, places)
    _draw_estimate(axes, picture, places)
    _frame(axes, picture, places)
    _draw_text(axes, picture)


def _draw_rounds(axes: "Axes", picture: Picture) -> list[float]:
    searched = len(picture.search)
    places = [n + 1 + (GAP if n >= searched else 0) for n in range(searched + len(picture.confirm))]
    sessions = (
        (places[:searched], picture.search, picture.search_means, SEARCH, "o", "search"),
        (places[searched:], picture.confirm, picture.confirm_means, CONFIRM, "D", "confirmation"),
    )
    axes.axhline(0, color=FAINT, linewidth=0.8, zorder=1)
    for where, values, means, colour, marker, name in sessions:
        if where:
            label = name if picture.confirm else "round"
            axes.plot(where, values, marker, color=colour, markersize=4.2, alpha=0.75, markeredgewidth=0, label=label, zorder=3)
            axes.plot(where, means, color=colour, linewidth=1.6, label="mean so far", zorder=4)
    return places


def _draw_boundaries(axes: "Axes", picture: Picture, places: list[float]) -> None:
    if picture.looks:
        where = [places[look.rounds - 1] for look in picture.looks]
        style: Any = {"linewidth": 0.9, "linestyle": (0, (4, 2)), "markersize": 5.5, "alpha": 0.85, "zorder": 2}
        keep, futile = [look.keep for look in picture.looks], [look.futile for look in picture.looks]
        axes.plot(where, keep, marker="^", color=GOOD, label="look: above, confirm", **style)
        axes.plot(where, futile, marker="v", color=BAD, label="look: below, futile", **style)
    if picture.confirm_above is not None:
        first, last = places[len(picture.search)], places[-1]
        label = "confirmed only above"
        axes.plot([first, last], [picture.confirm_above] * 2, color=GOOD, linewidth=1.1, label=label, zorder=2)


def _draw_estimate(axes: "Axes", picture: Picture, places: list[float]) -> None:
    if picture.estimate is None:
        return
    middle = picture.estimate.effect_percent
    reach = [[middle - picture.estimate.low_percent], [picture.estimate.high_percent - middle]]
    axes.errorbar(
        [places[-1] + max(1.5, 0.03 * places[-1])], [middle], yerr=reach, fmt="s", color=INK, markersize=5, capsize=4,
        linewidth=1.5, label="estimate, 95 % interval", zorder=5,
    )  # fmt: skip


def _frame(axes: "Axes", picture: Picture, places: list[float]) -> None:
    low, high = min(picture.levels), max(picture.levels)
    margin = 0.06 * (high - low) or 0.1
    axes.set_ylim(low - margin, high + margin)
    axes.set_xlim(0, places[-1] + max(3.0, 0.06 * places[-1]))
    searched = len(picture.search)
    if picture.confirm and searched:
        middle = places[searched - 1] + (1 + GAP) / 2
        axes.axvline(middle, color=FAINT, linewidth=0.8, linestyle=":", zorder=1)
    marks = _ticks(picture)
    axes.set_xticks([places[index] for index, _ in marks], [f"{rounds}" for _, rounds in marks])
    axes.set_xlabel("rounds of the search; then of the confirmation" if picture.confirm else "rounds", color=INK)
    axes.set_ylabel("faster than the baseline, %", color=INK)
    axes.tick_params(colors=INK, length=3)
    axes.grid(axis="y", color=FAINT, alpha=0.2, linewidth=0.6)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(FAINT)


def _ticks(picture: Picture) -> list[tuple[int, int]]:
    """Return (index of a round, its number in its session) for the labels of the horizontal axis. Labelled are the last rounds
    of the search and the confirmation, and rounds at which the search may stop, if far enough apart.
    """
    searched, confirmed = len(picture.search), len(picture.confirm)
    apart = max(1, round((searched + confirmed) / 40))
    ends = {searched - 1: searched} if searched else {}
    ends |= {searched + confirmed - 1: confirmed} if confirmed else {}
    looks = [look.rounds for look in picture.looks] or list(range(1, searched + 1, max(1, searched // 10)))
    marks = dict(ends)
    for rounds in looks:
        if all(abs(rounds - 1 - index) >= apart for index in marks):
            marks[rounds - 1] = rounds
    return sorted(marks.items())


def _draw_text(axes: "Axes", picture: Picture) -> None:
    caption = picture.caption
    colour = COLOURS.get(caption.outcome, INK)
    figure = axes.figure
    figure.text(0.085, 0.945, f"{caption.id}  {one_line(caption.title, 70)}", fontsize=11.5, color=INK, weight="bold")
    figure.text(0.97, 0.945, caption.outcome, fontsize=11.5, color=colour, weight="bold", ha="right")
    below = effect_text(picture.estimate) if picture.estimate else caption.reason
    figure.text(0.085, 0.9, one_line(f"target {caption.target}: {below}", 120), fontsize=9, color=FAINT)
    handles, labels = axes.get_legend_handles_labels()
    once = dict(zip(reversed(labels), reversed(handles), strict=True))  # of equal labels, the first is kept
    figure.legend(
        list(once.values())[::-1], list(once)[::-1], loc="lower center", ncols=4, fontsize=8, frameon=False, labelcolor=INK,
        handlelength=1.8, columnspacing=1.3,
    )  # fmt: skip
