"""Forbidden patterns: regular expressions that no line added by a patch may match."""

import re
from collections.abc import Iterable

LINE_MAX = 400
PATTERN_MAX = 200
STANDING_MAX = 3  # lines of the baseline that may match; a pattern with more matches says nothing about a change


def forbidden(pattern: str, added: Iterable[str]) -> bool:
    """Does the regular expression `pattern` match one of the added lines?"""
    wanted = re.compile(pattern)
    return any(wanted.search(line[:LINE_MAX]) for line in added)


def pattern_fault(pattern: str) -> str:
    """Return why a forbidden pattern is not allowed (invalid, too long, or slow to match); empty when it is allowed."""
    if not pattern.strip() or len(pattern) > PATTERN_MAX:
        return f"expected a regular expression of at most {PATTERN_MAX} letters, found {len(pattern)}"
    try:
        matches_nothing = re.compile(pattern).search("") is None
    except (re.error, OverflowError, RecursionError) as error:
        return f"{pattern!r} is no regular expression: {error}"
    if not matches_nothing:
        return f"{pattern!r} matches every line: expected a pattern that needs some text"
    if re.search(r"[*+}?]\s*\)+\s*[*+{]", pattern):
        return f"{pattern!r} has a repeat inside a repeat, such as (x+)*, which may take very long: write it with one repeat"
    return ""


def void_reason(pattern: str, *, own: Iterable[str] | None, standing: Iterable[str]) -> str:
    """Return why a forbidden pattern may not be applied; "" if it may.

    It must match a line that its own change adds, and hardly any line of the baseline. `own` are the lines that the rejected
    change adds (None if unknown), `standing` the lines of the baseline's files in the scope.
    """
    wanted = re.compile(pattern)
    if wanted.search(""):
        return "it matches every line"
    if own is not None and not forbidden(pattern, own):
        return "no line that its own change adds matches it"
    found = sum(wanted.search(line[:LINE_MAX]) is not None for line in standing)
    return f"it matches {found} lines of the baseline, at most {STANDING_MAX} are allowed" if found > STANDING_MAX else ""
