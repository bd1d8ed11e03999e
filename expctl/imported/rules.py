"""Read the do-not-repeat list of a hand-kept ledger, and find out which experiment each of its entries is about."""

import re
from collections.abc import Iterator, Sequence

from expctl.domain.experiment.proposal import Verdict
from expctl.domain.text import one_line, plain_text
from expctl.imported.document import Document, Line, Row, Unread

# `E7: avoid a copy` tells a change, `Paths to avoid` forbids.
FORBIDS = re.compile(
    r"do[- ]?n.?o?t[- ]repeat|dead ends?|non-starters?|never again|already tried|(?<!\d )(?<!\d[.):] )(?<![:–—-] )"
    r"(?<![\w.`])avoid",
    re.IGNORECASE,
)
BULLET = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+(.*)")
CODE = re.compile(r"`([^`]+)`")
WORD = re.compile(r"[a-z][a-z0-9_]{3,}|[a-z]+\d+")
COMMON = {
    "without", "condition", "precondition", "clear", "clearly", "testing", "retesting", "adding", "trying", "introducing",
    "variant", "path",
}  # fmt: skip


def rules_by_row(document: Document, rows: Sequence[Row]) -> tuple[dict[int, str], tuple[Unread, ...]]:
    """Return the do-not-repeat texts that match a row, by the row's line number, and those that match no single row."""
    rules: dict[int, str] = {}
    unread: list[Unread] = []
    for line in _bullets(document):
        row = row_of_rule(line.text, rows)
        text = plain_text(line.text)
        if row is None:
            unread.append(Unread(line=line.number, text=one_line(text, 100), why="matches no single row of the ledger"))
        else:
            rules[row.line] = f"{rules[row.line]} {text}" if row.line in rules else text
    return rules, tuple(unread)


def _bullets(document: Document) -> Iterator[Line]:
    for section in document.sections:
        if FORBIDS.search(section.title):
            for line in section.lines:
                found = BULLET.fullmatch(line.text)
                if found:
                    yield Line(number=line.number, text=found[1])


def row_of_rule(text: str, rows: Sequence[Row]) -> Row | None:
    """Return the row that a do-not-repeat text is about, matched by id, code or words in common; None unless just one fits."""
    named = [row for row in rows if row.name and re.search(rf"(?<![\w-]){re.escape(row.name)}(?![\w-])", text)]
    if named:
        return named[0] if len(named) == 1 else None
    for code in CODE.findall(text):
        for match in (_exactly, _within):
            having = [row for row in rows if match(code, CODE.findall(row.change))]
            if len(having) == 1:
                return having[0]
    scores = sorted(((_overlap(text, row), row.line) for row in rows), reverse=True)
    best = [line for score, line in scores if score == scores[0][0]]
    return next(row for row in rows if row.line == best[0]) if len(best) == 1 and scores[0][0] >= 2 else None


def _exactly(code: str, others: Sequence[str]) -> bool:
    return code in others


def _within(code: str, others: Sequence[str]) -> bool:
    return any(len(other) > 3 and (other in code or code in other) for other in others)


def _overlap(text: str, row: Row) -> float:
    words = {_stem(word) for word in WORD.findall(text.lower())} - COMMON
    tried = {_stem(word) for word in WORD.findall(row.change.lower())}
    return len(words & tried) + (
        0.5 if any(ruling.verdict is Verdict.REJECT for ruling in row.rulings) and words & tried else 0
    )


def _stem(word: str) -> str:
    return word[:-1] if word.endswith("s") else word
