"""Find tables whose verdicts stand inside the words of a cell: `num_stages=3: REVERT no gain`, `wider loads (reverted)`."""

import dataclasses
import re

from expctl.imported.document import Table

HEAD = "verdict"
FIRST = re.compile(r"^\W*baseline\b|\bbaseline\s*:|[-_]baseline$", re.IGNORECASE)
NO_WORD = "(no word)"
SHARE = 0.3
AT_LEAST = 3
# In capitals where a part of the cell begins, or as its last part
SAID = re.compile(
    r"(?:(?:^|[:.;,(\[|]\s*|\s[-–—]+\s|(?:→|->)\s*)[*_`\"]*"
    r"(?P<shouted>KEEP|KEPT|REVERT(?:ED)?|DISCARD(?:ED)?|REJECT(?:ED)?)\b(?!\s*(?:if|unless|\?))"
    r"|[,;(–—-]\s*(?:and |then |was )?(?P<ends>kept|reverted|discarded|rejected)[)\W]*$)"
)


def ruled_inside(table: Table) -> Table | None:
    """Return `table` with a column of the verdicts that the cells of one of its columns contain; None where no column does.

    A row without such a word gets the cell `(no word)`: that the author kept it isn't said.
    """
    best = max(range(len(table.heads)), key=lambda index: _count(table, index), default=None)
    if best is None or _count(table, best) < max(AT_LEAST, SHARE * len(table.rows)):
        return None
    rows = []
    for row in table.rows:
        word = _word(row.cells[best])
        first = word or ("baseline" if any(map(FIRST.search, row.cells)) else NO_WORD)
        rows.append(dataclasses.replace(row, cells=(*row.cells, first)))
    return dataclasses.replace(table, heads=(*table.heads, HEAD), rows=tuple(rows))


def _count(table: Table, index: int) -> int:
    return sum(bool(_word(row.cells[index])) for row in table.rows)


def _word(cell: str) -> str:
    """Return the one word of a verdict in a cell; "" without one, or with two."""
    found = {(match["shouted"] or match["ends"]).lower() for match in SAID.finditer(cell)}
    return found.pop() if len(found) == 1 else ""
