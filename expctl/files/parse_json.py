"""Parses JSON strictly: NaN, Infinity, too large numbers and repeated keys are errors, unlike in Python's json module."""

import json
import math
from typing import Any


def parse_json(text: str) -> Any:
    """Parse a JSON text into plain data. Raises ValueError when it is not valid JSON, or repeats a key."""
    try:
        return json.loads(text, object_pairs_hook=once, parse_constant=_refuse, parse_float=_finite)
    except RecursionError as error:
        raise ValueError(str(error)) from error


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Turn (key, value) pairs of a JSON object into a dictionary. Raises ValueError when a key appears twice."""
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        raise ValueError("a key appears twice")
    return mapping


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is not a number")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text[:40]} is too large for a number")
    return number
