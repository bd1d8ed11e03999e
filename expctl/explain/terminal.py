"""An explained loop, or two side by side, as lines of text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from expctl.check.places import Place
from expctl.domain.layout import Column, cut_middle, named_table
from expctl.domain.text import plain_text
from expctl.explain.bounds import shown
from expctl.explain.comparison import Comparison
from expctl.explain.explained import Explained
from expctl.explain.figures import Figures, Group, Line
from expctl.inspection.views.occupancy import count
from expctl.inspection.views.terminal import change_rows

Cell = Callable[[Figures], str]
NAME_LEAST = 20
_CHANGE = "→"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of the table: a line of the source, or a total. `figures` are those of each file; None where it lacks the line."""

    name: str
    file: str = ""
    numbers: tuple[str, ...] = ()
    figures: tuple[Figures | None, ...]


def explained_lines(found: Explained, width: int = 0) -> list[str]:
    """Return an explained kernel as lines; those of the table fit into `width` columns, unless it is 0."""
    totals = [Row(name="all", numbers=("",), figures=(found.total,))]
    if found.per_matrix:
        totals.append(Row(name="per matrix instruction", numbers=("",), figures=(found.per_matrix,)))
    rows = [_row(line, with_file=_has_files(found)) for line in found.lines]
    table = _table(("line",), rows, totals, width)
    return [*_head(found, width), "", *table, "", *found.bounds, *(f"note: {each}" for each in found.notes)]


def comparison_lines(found: Comparison, width: int = 0) -> list[str]:
    """Return two explained kernels as lines: their totals, and the lines of the source with other figures, as `a→b`. Those of
    the table fit into `width` columns, unless it is 0.
    """
    sides = {"a": found.a, "b": found.b}
    with_file = _has_files(found.a, found.b)
    rows = [_row(pair.a, pair.b, with_file=with_file) for pair in found.lines if not pair.is_same]
    same = len(found.lines) - len(rows)
    return [
        *(f"{name}  {line}" for name, side in sides.items() for line in _head(side, width and width - 3)),
        "",
        f"    {'':<20}{'a':>12}{'b':>12}{'change':>12}",
        *change_rows(found.figures),
        "",
        *(_table(("a", "b"), rows, [], width) if rows else ()),
        *([f"  ({same} lines have the same figures)"] if same else []),
        "",
        *(f"{name}  {each}" for name, side in sides.items() for each in (*side.bounds, *side.notes)),
        *(f"note: {each}" for each in found.notes),
    ]


def _head(found: Explained, width: int) -> Iterator[str]:
    yield cut_middle(f"{found.file}  {found.kernel}", width)
    what = "hot loop" if found.is_loop else "kernel"
    first, last = found.assembly_lines
    yield f"{what}: {found.statements} instructions, in lines {first} to {last} of the assembly for {found.arch}"
    if found.iterations is not None:
        waves = count(found.waves or 0, "wave")
        times = f"{count(found.iterations, 'iteration')} in {waves}" if found.is_loop else waves
        at = "".join(f", {name} = {extent}" for name, extent in found.shapes.items())
        share = f"{shown(found.share_percent or 0)} % of all instructions"
        yield f"launch: {times}, {share}{at}; figures are per {'iteration and ' * found.is_loop}wave"
    yield f"vector registers: at most {found.total.live} live of {found.registers}"


def _has_files(*sides: Explained) -> bool:
    """Return whether the lines of one side come from several files."""
    return any(len({line.place.file for line in side.lines if line.place}) > 1 for side in sides)


def _row(*lines: Line | None, with_file: bool) -> Row:
    """Return the row of one line, or of a line in a and in b."""
    places = [line.place if line else None for line in lines]
    known = next((place for place in places if place), Place(file="", line=0, text="(no line)"))
    return Row(
        name=plain_text(known.text) or str(known),
        file=PurePath(known.file).name if with_file else "",
        numbers=tuple(str(place.line) if place else "" for place in places),
        figures=tuple(line.figures if line else None for line in lines),
    )


def _table(heads: tuple[str, ...], rows: Sequence[Row], totals: Sequence[Row], width: int) -> Iterator[str]:
    """Yield a table of lines of the source, below the name of their file where there are several, and of totals. Figures that
    are the same in all lines of a and b are left out.
    """
    every = [*rows, *totals]
    columns = [Column(head, [row.numbers[side] for row in every]) for side, head in enumerate(heads)]
    figures = [Column(head, [_cell(row, cell) for row in every], rank) for head, cell, rank in _FIGURES]
    columns += [column for column in figures if not column.empty and (totals or _CHANGE in "".join(column.cells))]
    names = Column("", [row.name for row in every], words=True)
    (head, *body), left_out = named_table(columns, names, width, name_least=NAME_LEAST)
    yield head.rstrip()
    before = ""
    for row, text in zip(rows, body, strict=False):
        if row.file != before:
            yield f"{row.file or 'no file'}:"
        before = row.file
        yield text.rstrip()
    yield from ("", *(text.rstrip() for text in body[len(rows) :])) if totals else ()
    if left_out:
        yield f"  (no room for {', '.join(left_out)}: a wider terminal or --json has them)"


def _cell(row: Row, cell: Cell) -> str:
    different = dict.fromkeys(cell(each) if each else "" for each in row.figures)
    return _CHANGE.join(text or "0" for text in different) if len(different) > 1 else next(iter(different))


def _count(number: float) -> str:
    return shown(number) if number else ""


def _of(number: float, least: float) -> str:
    return f"{shown(number)}/{shown(least)}" if shown(number) != shown(least) else _count(number)


def _in_group(group: Group) -> Cell:
    return lambda figures: _count(figures.instructions.get(group, 0))


_FIGURES: tuple[tuple[str, Cell, int], ...] = (
    ("mat", _in_group(Group.MATRIX), 2),
    ("vec", _in_group(Group.VECTOR), 3),
    ("mem", _in_group(Group.MEMORY), 4),
    ("LDS", _in_group(Group.LDS), 4),
    ("sca", _in_group(Group.SCALAR), 7),
    ("br", _in_group(Group.BRANCH), 8),
    ("wait", _in_group(Group.WAIT), 5),
    ("hint", _in_group(Group.HINT), 9),
    ("all", lambda figures: _count(figures.all), 6),
    ("passes", lambda figures: _of(figures.passes, figures.passes_least), 1),
    ("lines", lambda figures: _of(figures.lines, figures.lines_least), 1),
    ("live", lambda figures: _count(figures.live), 2),
)
"""Heading, what is shown, and how soon it is left out where the width is short."""
