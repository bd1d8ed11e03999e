"""Hooks for `json.loads` that refuse what is no standard JSON: repeated keys, NaN and infinities."""

from typing import Any

Pairs = list[tuple[str, Any]]


def unique_keys(pairs: Pairs) -> dict[str, Any]:
    """Return an object's pairs as a dict. Raises ValueError if a key appears twice."""
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        raise ValueError("a key appears twice")
    return mapping


def refuse_constant(word: str) -> None:
    """Raise ValueError for `word`, one of NaN, Infinity and -Infinity."""
    raise ValueError(f"{word} is not a number")
