"""Tell whether two short texts of a hand-kept ledger may speak of the same change, by the words that they share; and which
rows tell of an experiment once more.
"""

import re
from collections.abc import Mapping, Sequence

from expctl.imported.document import Row

WORD = re.compile(r"[a-z][a-z0-9_]{2,}")
# What any change may be called says nothing of which it is.
GENERIC = re.compile(
    r"add|analysis|and|are|attempt|avoid|baseline|before|benchmark|bench|change|check|compute|conclusion|correctness"
    r"|cost|decision|default|details|discussion|drop|each|enable|experiment|fast|faster|final|findings|first|fix"
    r"|follow|for|force|from|full|gain|idea|implementation|improve|increase|instead|into|kernel|less|lower|make"
    r"|measure|measurement|measurements|more|move|new|next|not|notes|one|only|opt|optimisation|optimization|optimize"
    r"|outcome|over|path|per|perf|performance|phase|pre|raise|reduce|remove|replace|result|results|rework|run|second"
    r"|set|single|size|skip|slow|slower|smaller|sort|speed|step|summary|test|than|the|their|then|third|time|try|tune"
    r"|tuning|two|use|validation|verdict|via|when|wide|wider|with|without"
)
STEM = 5
SHARE = 0.5
# `MAX_LEN`, `--no-wait`, `wideLoads`: who uses the same name means the same thing.
CODE = re.compile(r"--[a-z][\w-]+|\b[A-Za-z]\w*_\w+\b|\b[a-z]+[A-Z]\w+\b", re.ASCII)
# Ids of experiments. Other names, like `1`, `baseline` or a commit, say only within their table which row is meant.
PROPER = re.compile(r"[A-Za-z]{1,6}[-_]?\d+[a-z]?(?:-[A-Z]\d*[a-z]?)?", re.ASCII)
WITH_DIGIT = re.compile(r"[a-z]*\d\w*")
SUMMED_SHARE = 0.6
SHARED_MIN = 2


def stems(text: str) -> frozenset[str]:
    """Return the first letters of the telling words of `text`, so that `chrono` and `chronological` are one."""
    words = WORD.findall(text.lower())
    return frozenset(word.rstrip("s")[:STEM] for word in words if not GENERIC.fullmatch(word))


def may_be_the_same(title: str, change: str, body: str = "") -> bool:
    """Return whether `title` (with the text `body` below it) may speak of `change`: they share the name of something in code,
    or half of their telling words, or one of them has no telling word, so that nobody can say that they differ.
    """
    first, second = stems(title), stems(change)
    if not first or not second or set(CODE.findall(title)) & set(CODE.findall(change)):
        return True
    return len(first & second) >= SHARE * min(len(first), len(second)) or len(second & stems(body)) >= SHARE * len(second)


def told_twice(rows: Sequence[Row]) -> Mapping[int, int]:
    """Return for the line of each row that tells of an experiment once more the line that tells it first.

    A table repeats an earlier one, or a section, where half of the ids that both have are of like changes: then all with the
    same verdict are the same. One without ids sums up sections where most of its rows are of a section with their verdict.
    """
    first: dict[str, Row] = {}
    both: dict[tuple[int, int], list[tuple[Row, Row]]] = {}
    for row in rows:
        if PROPER.fullmatch(row.name) and (earlier := first.setdefault(row.name, row)).table != row.table:
            both.setdefault((earlier.table, row.table), []).append((earlier, row))
    found: dict[int, int] = {}
    for pairs in both.values():
        same = [pair for pair in pairs if _verdicts(pair[0]) == _verdicts(pair[1])]
        if 2 * sum(_alike(one.change, other.change) for one, other in same) >= len(pairs):
            found |= {row.line: earlier.line for earlier, row in same}
    return found | _summed_up(rows)


def _summed_up(rows: Sequence[Row]) -> dict[int, int]:
    told = [row for row in rows if row.line == row.table]
    tables: dict[int, list[Row]] = {}
    for row in rows:
        if row.line != row.table and not row.name:
            tables.setdefault(row.table, []).append(row)
    found: dict[int, int] = {}
    for table in tables.values():
        of = {row.line: section.line for row in table for section in told if _is_of(row, section)}
        if len(of) > SHARED_MIN and len(of) >= SUMMED_SHARE * len(table):
            found |= of
    return found


def _is_of(row: Row, section: Row) -> bool:
    """Return whether a row may sum up a section: the verdict is the same, the words alike, and what has digits differs not."""
    numbers, its = (set(WITH_DIGIT.findall(each.change.lower())) for each in (row, section))
    shared = stems(row.change) & stems(section.change)
    same = _verdicts(row) == _verdicts(section) and (numbers <= its or its <= numbers)
    return same and len(shared) >= SHARED_MIN and _alike(row.change, section.change)


def _alike(text: str, other: str) -> bool:
    """Return whether both texts have telling words, and may be the same by these."""
    return bool(stems(text) and stems(other)) and may_be_the_same(text, other)


def _verdicts(row: Row) -> frozenset[object]:
    return frozenset(each.verdict for each in row.rulings)
