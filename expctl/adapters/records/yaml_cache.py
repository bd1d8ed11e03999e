"""Cache parsed YAML as JSON in the index of records, because parsing strict YAML takes a hundred times as long.

An entry's key is the path and the bytes of the document. The cache is ignored if another version of the code built the index.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from expctl.adapters.index.record_index import RecordIndex


DOCUMENTS_MAX = 4000


Documents = dict[tuple[str, bytes], str]
"""(place, bytes of a YAML document) -> its parsed value as JSON."""


class YamlCache:
    """Parses YAML documents, or takes them from the cache in `index`; adds to the cache what it parsed."""

    def __init__(self, index: RecordIndex) -> None:
        self._index = index
        self._known: Documents | None = None

    def read(self, texts: Mapping[str, bytes], wanted: Any, read: Callable[[str, bytes], Any]) -> dict[str, Any]:
        """Return path -> parsed document of type `wanted`, for `texts` (path -> YAML). A document that isn't cached is parsed
        by `read(path, YAML)`, whose errors are passed on; one for which it returns None is left out and not cached.
        """
        if self._known is None:
            nothing: Documents = {}
            self._known = self._index.look(_all, nothing)
        found, new = {}, {}
        for where, text in texts.items():
            plain = self._known.get((where, text))
            if plain is not None:
                try:
                    found[where] = msgspec.json.decode(plain, type=wanted)
                    continue
                except msgspec.DecodeError:
                    pass  # the cached entry is damaged
            made = read(where, text)
            if made is not None:
                found[where] = new[where, text] = made
        if new:
            from expctl.adapters.codec.decode import encode

            plainly = {key: json.dumps(encode(value)) for key, value in new.items()}
            self._index.note(lambda index: _keep(index, plainly))
            self._known |= plainly
        return found


def _all(index: sqlite3.Connection) -> Documents:
    rows = index.execute("select place, bytes, plain from documents").fetchall()
    return {(place, text): plain for place, text, plain in rows}


def _keep(index: sqlite3.Connection, documents: Mapping[tuple[str, bytes], str]) -> None:
    if index.execute("select count(*) from documents").fetchone()[0] > DOCUMENTS_MAX:
        index.execute("delete from documents")
    rows = [(place, text, plain) for (place, text), plain in documents.items()]
    index.executemany("insert or replace into documents values (?, ?, ?)", rows)
