"""A Markdown table whose columns line up as raw text too."""

from collections.abc import Sequence

from expctl.views.escape import Markdown, markdown_text

# A cell wider than this doesn't set the width of its column: one long title must not blow up every row.
COLUMN_MAX = 44


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Markdown:
    """The table of `rows`, each as long as `heads`. Cells are escaped unless they are Markdown; the last is not padded."""
    return aligned(heads, [cells(row) for row in rows])


def cells(row: Sequence[str]) -> list[str]:
    """The cells of a row, escaped unless they are Markdown."""
    return [(text if isinstance(text, Markdown) else markdown_text(text)) or "-" for text in row]


def aligned(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Markdown:
    """As `table`, of rows whose `cells` were made before."""
    widths = widths_of(heads, rows)
    return Markdown("\n".join((head_lines(heads, widths), *([lines_text(rows, widths)] if rows else []))))


def widths_of(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[int, ...]:
    """How wide the columns of these rows have to be."""
    columns = zip(*rows, strict=True) if rows else ((),) * len(heads)
    found = [_width(head, column) for head, column in zip(heads, columns, strict=True)]
    return (*found[:-1], len(heads[-1]))


def head_lines(heads: Sequence[str], widths: Sequence[int]) -> str:
    """The heads, and the line below them."""
    return lines_text([heads, ["-" * width for width in widths]], widths)


def lines_text(rows: Sequence[Sequence[str]], widths: Sequence[int]) -> str:
    """The lines of these rows."""
    line = "| " + " | ".join(f"%-{width}s" for width in widths) + " |"
    return "\n".join([line % tuple(row) for row in rows])


def _width(head: str, column: Sequence[str]) -> int:
    return max(3, len(head), *[length for length in map(len, column) if length <= COLUMN_MAX])
