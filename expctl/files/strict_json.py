"""JSON without what JSON does not have, or says twice: hooks for `json.loads`."""

from typing import Any

Pairs = list[tuple[str, Any]]


def once(pairs: Pairs) -> dict[str, Any]:
    """An object whose keys are all different; raises ValueError."""
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        raise ValueError("a key appears twice")
    return mapping


def no_constant(word: str) -> None:
    """Refuses NaN and the infinities; raises ValueError."""
    raise ValueError(f"{word} is not a number")
