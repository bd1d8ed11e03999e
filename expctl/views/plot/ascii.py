"""Draw the rounds of an experiment as ASCII art, at most 80 columns wide."""

import textwrap

from expctl.domain.experiment.figures import effect_text
from expctl.domain.text import one_line
from expctl.domain.verdict.plot_data import Picture

WIDTH = 80
LABEL = 8  # width of `  +12.34`
PLOT = 62  # columns for rounds
ESTIMATE = 4  # columns right of the rounds, for the interval
ROWS = 19
GAP = 2  # columns between search and confirmation
STEP_MOST = 4  # most columns from round to round
LABELS_EVERY = 3


class _Canvas:
    """A grid of characters on which a chart is drawn; the bottom row is at height `low`, the top row at height `high`."""

    def __init__(self, low: float, high: float) -> None:
        self._low, self._high = low, high
        self._cells = [[" "] * (PLOT + ESTIMATE) for _ in range(ROWS)]

    def row(self, level: float) -> int:
        return round((self._high - level) / (self._high - self._low) * (ROWS - 1))

    def level(self, row: int) -> float:
        return self._high - row * (self._high - self._low) / (ROWS - 1)

    def put(self, column: int, level: float, letter: str) -> None:
        self._cells[self.row(level)][column] = letter

    def text(self, row: int) -> str:
        return "".join(self._cells[row]).rstrip()


def chart_lines(picture: Picture) -> list[str]:
    """Return a chart of an experiment's rounds as lines of text, with caption, axis and legend."""
    low, high = min(picture.levels), max(picture.levels)
    margin = 0.04 * (high - low) or 0.1
    canvas = _Canvas(low - margin, high + margin)
    columns = _columns(len(picture.search), len(picture.confirm))
    _draw(canvas, picture, columns)
    caption = picture.caption
    zero = canvas.row(0.0)
    lines = [f"{caption.id}  {one_line(caption.title, 48)}   target {one_line(caption.target, 12)}"]
    lines.append(f"{'%':>{LABEL - 1}}  faster is up")
    for row in range(ROWS):
        # Zero is always labelled, and the rows next to it are not.
        labelled = row == zero or (row % LABELS_EVERY == 0 and abs(row - zero) > 1)
        label = f"{0.0 if row == zero else canvas.level(row):+{LABEL}.2f}" if labelled else " " * LABEL
        lines.append(f"{label} {'+' if labelled else '|'}{canvas.text(row)}")
    lines.append(f"{'':{LABEL}} {_axis(picture, columns)}")
    return [*lines, *_legend(picture), *_ending(picture)]


def _draw(canvas: _Canvas, picture: Picture, columns: list[int]) -> None:
    rounds, means = (*picture.search, *picture.confirm), (*picture.search_means, *picture.confirm_means)
    for column in range(0, PLOT + ESTIMATE, 2):
        canvas.put(column, 0.0, ".")
    for column, mean in zip(columns, means, strict=True):
        canvas.put(column, mean, "-")
    for index, (column, value) in enumerate(zip(columns, rounds, strict=True)):
        canvas.put(column, value, "o" if index < len(picture.search) else "x")
    for look in picture.looks:
        canvas.put(columns[look.rounds - 1], look.futile, "f")
        canvas.put(columns[look.rounds - 1], look.keep, "k")
    if picture.confirm_above is not None:
        canvas.put(columns[-1], picture.confirm_above, "k")
    if picture.estimate is not None:
        column = min(columns[-1] + 3, PLOT + ESTIMATE - 1)
        top, bottom = canvas.row(picture.estimate.high_percent), canvas.row(picture.estimate.low_percent)
        for row in range(top, bottom + 1):
            canvas.put(column, canvas.level(row), "|")
        canvas.put(column, picture.estimate.effect_percent, "#")


def _columns(search: int, confirm: int) -> list[int]:
    """Return the text column of each round: `search` rounds, a gap, and `confirm` rounds. Neighbouring rounds share a column if
    there are too many of them.
    """
    gap = GAP if confirm else 0
    step = min(STEP_MOST, (PLOT - 1 - gap) / max(1, search + confirm - 1))
    step = float(int(step)) if step >= 1 else step
    return [int(index * step) + (gap if index >= search else 0) for index in range(search + confirm)]


def _axis(picture: Picture, columns: list[int]) -> str:
    searched = len(picture.search)
    marks = [(columns[searched - 1], searched)] if searched else []
    marks += [(columns[-1], len(picture.confirm))] if picture.confirm else []
    marks += [(columns[look.rounds - 1], look.rounds) for look in reversed(picture.looks)]
    cells = [" "] * (PLOT + ESTIMATE)
    for column, rounds in marks:
        word = f"{rounds}"
        start = max(0, column + 2 - len(word))  # one column more for the vertical axis
        if not "".join(cells[max(0, start - 1) : start + len(word) + 1]).strip():
            cells[start : start + len(word)] = word
    return f"{''.join(cells).rstrip()} rounds"


def _legend(picture: Picture) -> list[str]:
    parts = ["o round" if not picture.confirm else "o round of the search, x of the confirmation", "- mean so far"]
    lines = [f"{'':{LABEL}} {', '.join(parts)}"]
    if picture.looks:
        lines.append(f"{'':{LABEL}} at a look, a mean above k goes to the confirmation, below f is futile")
    if picture.estimate is not None:
        lines.append(f"{'':{LABEL}} # estimate of the record, | its 95 % interval")
    return lines


def _ending(picture: Picture) -> list[str]:
    caption, indent = picture.caption, " " * 13
    estimate = [f"  objective  {effect_text(picture.estimate)}"] if picture.estimate else []
    text = f"  {caption.outcome:<10} {one_line(caption.reason)}"
    return [*estimate, *textwrap.wrap(text, WIDTH, subsequent_indent=indent, drop_whitespace=True)]
