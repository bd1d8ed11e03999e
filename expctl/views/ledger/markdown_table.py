"""Markdown tables whose columns are also aligned as raw text."""

from collections.abc import Sequence

from expctl.views.escape import Markdown, markdown_text

# Widest cell that widens its column: one long title must not widen every row.
COLUMN_MAX = 44


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Markdown:
    """Return a table; every row is as long as `heads`. Cells are escaped unless they are Markdown; the last isn't padded."""
    return aligned(heads, [cells(row) for row in rows])


def cells(row: Sequence[str]) -> list[str]:
    """Return the cells of a row, escaped unless they are Markdown; `-` for an empty one."""
    return [(text if isinstance(text, Markdown) else markdown_text(text)) or "-" for text in row]


def aligned(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Markdown:
    """Return a table of rows whose cells `cells` has escaped already."""
    widths = widths_of(heads, rows)
    return Markdown("\n".join((head_lines(heads, widths), *([lines_text(rows, widths)] if rows else []))))


def widths_of(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[int, ...]:
    """Return the widths of all columns; the last one is as wide as its head."""
    columns = zip(*rows, strict=True) if rows else ((),) * len(heads)
    found = [_width(head, column) for head, column in zip(heads, columns, strict=True)]
    return (*found[:-1], len(heads[-1]))


def head_lines(heads: Sequence[str], widths: Sequence[int]) -> str:
    """Return the heads of a Markdown table and the rule below them."""
    return lines_text([heads, ["-" * width for width in widths]], widths)


def lines_text(rows: Sequence[Sequence[str]], widths: Sequence[int]) -> str:
    """Return the rows of a Markdown table as lines, padded to `widths`."""
    line = "| " + " | ".join(f"%-{width}s" for width in widths) + " |"
    return "\n".join([line % tuple(row) for row in rows])


def _width(head: str, column: Sequence[str]) -> int:
    return max(3, len(head), *[length for length in map(len, column) if length <= COLUMN_MAX])
