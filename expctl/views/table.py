"""A Markdown table whose columns line up as raw text too."""

from collections.abc import Sequence

from expctl.views.escape import Markdown, markdown_text

# A cell wider than this doesn't set the width of its column: one long title must not blow up every row.
COLUMN_MAX = 44


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Markdown:
    """The table of `rows`, each as long as `heads`. Cells are escaped unless they are Markdown; the last is not padded."""
    cells = [[_cell(text) for text in row] for row in rows]
    widths = [_width(head, [row[column] for row in cells]) for column, head in enumerate(heads)]
    widths[-1] = len(heads[-1])
    lines = [heads, ["-" * width for width in widths], *cells]
    return Markdown("\n".join(_line(line, widths) for line in lines))


def _cell(text: str) -> str:
    return (text if isinstance(text, Markdown) else markdown_text(text)) or "-"


def _width(head: str, column: Sequence[str]) -> int:
    return max(3, len(head), *(len(text) for text in column if len(text) <= COLUMN_MAX), 0)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "| " + " | ".join(text.ljust(width) for text, width in zip(cells, widths, strict=True)) + " |"
