"""JSON whose objects name no key twice. JSON libraries keep the last of two equal keys and say nothing."""

import json
from contextlib import suppress
from typing import Any

import msgspec


def decode_json(text: bytes) -> Any:
    """Return the document `text` as plain data. Raises ValueError when it is not JSON (NaN is not), or names a key twice.

    A document that encodes to the same text again repeats no key. Only a document that is written in another way (`1e-05`
    for `1e-5`, escaped letters) is parsed a second time, by the slower parser that shows every pair.
    """
    try:
        plain = msgspec.json.decode(text)
        with suppress(OverflowError):  # whole numbers above 64 bits can be decoded, but not encoded
            if msgspec.json.encode(plain) == msgspec.json.format(text, indent=-1):
                return plain
        json.loads(text, object_pairs_hook=once)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(str(error)) from error
    return plain


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return `pairs` as a mapping. Raises ValueError when a key appears twice."""
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        raise ValueError("a key appears twice")
    return mapping
