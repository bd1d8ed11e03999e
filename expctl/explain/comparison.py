"""Two explained kernels side by side, by the lines of their sources that have the same text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from expctl.explain.explained import Explained
from expctl.explain.figures import Figures, Group, Line
from expctl.inspection.model.change import Change, change_of

_DECIMALS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A line of source a and one of source b with the same text; None where only the other has it in its loop."""

    a: Line | None
    b: Line | None

    @property
    def is_same(self) -> bool:
        """Return whether both have this line, with equal figures."""
        return self.a is not None and self.b is not None and self.a.figures == self.b.figures


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two explained kernels: the changes of their totals, and the lines of their loops in the order of a. A line that only b
    has comes after the one before it in b.
    """

    a: Explained
    b: Explained
    figures: tuple[Change, ...]
    lines: tuple[Pair, ...]
    notes: tuple[str, ...]
    """What besides the kernels may make the difference."""


def compared(a: Explained, b: Explained) -> Comparison:
    """Compare two explained kernels. Of several lines with one text, the first is paired with the first, and so on."""
    left, right = _keyed(a.lines), _keyed(b.lines)
    at = {key: position for position, key in enumerate(left)}
    rows = [((at[key], False), Pair(a=line, b=right.get(key))) for key, line in left.items()]
    before = -1
    for key, line in right.items():
        if key in at:
            before = at[key]
        else:
            rows.append(((before, True), Pair(a=None, b=line)))
    return Comparison(
        a=a,
        b=b,
        figures=tuple(_changes(a, b)),
        lines=tuple(pair for _, pair in sorted(rows, key=lambda row: row[0])),
        notes=tuple(_notes(a, b)),
    )


def _notes(a: Explained, b: Explained) -> Iterator[str]:
    if a.made_by != b.made_by:
        made_by = [each.made_by or "a compiler that the file doesn't name" for each in (a, b)]
        yield f"a is by {made_by[0]}, b by {made_by[1]}: the difference may be theirs"


def _changes(a: Explained, b: Explained) -> Iterator[Change]:
    left, right = _named(a.total), _named(b.total)
    if a.per_matrix and b.per_matrix:
        for figures, per_matrix in ((left, a.per_matrix), (right, b.per_matrix)):
            figures |= {f"{name} per matrix": value for name, value in _named(per_matrix).items() if name != "live"}
    for name in left:
        if left[name] or right[name]:
            yield change_of(name, round(left[name], _DECIMALS), round(right[name], _DECIMALS))


def _named(figures: Figures) -> dict[str, float]:
    return {
        **{group.value: figures.instructions.get(group, 0) for group in Group},
        "all": figures.all,
        "LDS passes": figures.passes,
        "fewest passes": figures.passes_least,
        "memory lines": figures.lines,
        "fewest lines": figures.lines_least,
        "live": figures.live,
    }


def _keyed(lines: Sequence[Line]) -> dict[tuple[str, int], Line]:
    """Return lines by their text and the number of lines before with the same one."""
    seen: Counter[str] = Counter()
    found = {}
    for line in lines:
        text = line.place.text.strip() or str(line.place) if line.place else ""
        found[text, seen[text]] = line
        seen[text] += 1
    return found
