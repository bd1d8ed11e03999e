"""Draw what every experiment of a ledger came to: its effect with interval, its verdict, and what the kept ones add up to."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from expctl.domain.experiment.ids import id_order
from expctl.domain.text import one_line
from expctl.views.plot.figure_file import COLOURS, FAINT, INK, figure_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from expctl.domain.ledger.model import Ledger
    from expctl.domain.ledger.rows import Row

ROWS_MAX = 30
ROW_INCHES, EDGE_INCHES = 0.3, 1.3
TITLE_MAX = 46


def ledger_picture(ledger: "Ledger", suffix: str) -> bytes:
    """Return a picture of the newest measured experiments, the oldest at the top, as the bytes of a `png` or `svg` file."""
    rows = sorted((*ledger.earlier, *ledger.latest), key=lambda row: (row.date, id_order(row.id)))[-ROWS_MAX:]
    totals = {step.id: step.total[0] for target in ledger.targets if target.path for step in target.path.steps}
    height = EDGE_INCHES + ROW_INCHES * len(rows)
    return figure_file(lambda figure: _draw(figure, rows, totals, ledger.protocol.name), suffix, height_inches=height)


def _draw(figure: "Figure", rows: Sequence["Row"], totals: Mapping[str, float], name: str) -> None:
    height = figure.get_size_inches()[1]
    figure.subplots_adjust(left=0.4, right=0.8, top=1 - 0.6 / height, bottom=0.55 / height)
    axes = figure.add_subplot()
    axes.axvline(0, color=FAINT, linewidth=0.8, zorder=1)
    for place, row in enumerate(rows):
        _draw_row(axes, place, row, totals.get(row.id))
    _frame(axes, rows)
    figure.text(0.02, 1 - 0.3 / height, one_line(name, 70), fontsize=11.5, color=INK, weight="bold")


def _draw_row(axes: "Axes", place: int, row: "Row", together: float | None) -> None:
    colour = COLOURS.get(row.verdict.value, FAINT)
    if row.effect_percent is not None and row.low_percent is not None and row.high_percent is not None:
        reach = [[row.effect_percent - row.low_percent], [row.high_percent - row.effect_percent]]
        axes.errorbar([row.effect_percent], [place], xerr=reach, fmt="o", color=colour, markersize=4.5, capsize=3, zorder=3)
    said = row.verdict.value if row.effect_percent is not None else f"{row.verdict.value}, untimed"
    said += "" if together is None else f", in all {together:+.1f} %"
    axes.text(1.02, place, said, transform=axes.get_yaxis_transform(), color=colour, fontsize=9, va="center")


def _frame(axes: "Axes", rows: Sequence["Row"]) -> None:
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_yticks(range(len(rows)), [f"{row.id}  {one_line(row.title, TITLE_MAX)}" for row in rows])
    axes.set_xlabel("faster than its baseline, %, with 95 % interval", color=INK)
    axes.tick_params(axis="y", length=0, colors=INK)
    axes.tick_params(axis="x", length=3, colors=INK)
    axes.grid(axis="x", color=FAINT, alpha=0.2, linewidth=0.6)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(FAINT)
