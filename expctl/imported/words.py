"""Clauses of a sentence, which bound what a word speaks of."""

import re

BREAK = re.compile(r"[,;|]\s|[.:]\s|\s[-–—]+\s|[()]")


def clause_before(text: str, at: int, length: int = 28) -> str:
    """Return the part of text[:at] that lies in the same clause, at most `length` characters of it."""
    before = text[max(0, at - length) : at]
    ends = [found.end() for found in BREAK.finditer(before)]
    return before[ends[-1] :] if ends else before
