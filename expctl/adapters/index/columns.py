"""Lists and grounds, which stand in one column of the index as JSON."""

from __future__ import annotations

import functools
import json
import re
import sqlite3
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from expctl.domain.history.comparability import Comparability

HALVES = re.compile("[\ud800-\udfff]")  # of letters: JSON can say them, SQLite can't store them, no view shows them


def grounds_of(index: sqlite3.Connection) -> dict[int, Comparability]:
    """Number -> ground."""
    return {number: ground_of_text(text) for number, text in index.execute("select number, text from grounds")}


@functools.lru_cache(maxsize=4096)
def ground_of_text(text: str) -> Comparability:
    """The ground that a text of `ground_text` stands for."""
    from expctl.domain.history.comparability import Comparability

    protocol, parts = msgspec.json.decode(text)
    return Comparability(protocol=protocol, parts=dict(parts))


def ground_text(ground: Comparability) -> str:
    """The same for equal grounds."""
    return list_text((ground.protocol, tuple(sorted(ground.parts.items()))))


@functools.lru_cache(maxsize=4096)  # most records say the same things
def listed(text: str) -> Any:
    """The tuple that a column holds as JSON."""
    return msgspec.json.decode(text, type=tuple[str | tuple[Any, ...], ...]) if text else ()


@functools.lru_cache(maxsize=4096)
def list_text(items: tuple[Any, ...]) -> str:
    """What `listed` reads; empty of an empty tuple."""
    return HALVES.sub("", json.dumps(items, ensure_ascii=False)) if items else ""
