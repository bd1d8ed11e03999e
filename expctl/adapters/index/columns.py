"""Convert lists and Comparability objects to JSON, and back, for columns of the index."""

from __future__ import annotations

import functools
import json
import re
import sqlite3
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from expctl.domain.history.comparability import Comparability

SURROGATES = re.compile("[\ud800-\udfff]")  # valid in JSON, but SQLite can't store them and no view shows them


def grounds_of(index: sqlite3.Connection) -> dict[int, Comparability]:
    """Read the table `grounds`: return row number -> Comparability, everything a measurement's figures depend on."""
    return {number: ground_of_text(text) for number, text in index.execute("select number, text from grounds")}


@functools.lru_cache(maxsize=4096)
def ground_of_text(text: str) -> Comparability:
    """Return the Comparability that `ground_text` wrote as the JSON `text`."""
    from expctl.domain.history.comparability import Comparability

    protocol, parts = msgspec.json.decode(text)
    return Comparability(protocol=protocol, parts=dict(parts))


def ground_text(ground: Comparability) -> str:
    """Return `ground`, everything on which a measurement's figures depend, as JSON; equal values give equal text."""
    return json_text((ground.protocol, tuple(sorted(ground.parts.items()))))


@functools.lru_cache(maxsize=4096)  # most records hold equal lists
def json_tuple(text: str) -> Any:
    """Parse a column's JSON list of strings, lists and nulls into a tuple; "" gives the empty tuple."""
    return msgspec.json.decode(text, type=tuple[str | tuple[Any, ...] | None, ...]) if text else ()


@functools.lru_cache(maxsize=4096)
def json_text(items: tuple[Any, ...]) -> str:
    """Return `items` as the JSON that `json_tuple` parses; lone surrogates are dropped; "" for the empty tuple."""
    return SURROGATES.sub("", json.dumps(items, ensure_ascii=False)) if items else ""
