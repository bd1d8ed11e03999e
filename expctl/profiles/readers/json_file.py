"""Read JSON documents of profilers, which may be large and not quite standard."""

import json
from pathlib import Path
from typing import Any

from expctl.profiles.raw import refusals
from expctl.profiles.raw.sanity_limits import BITS_64
from expctl.profiles.readers.text_file import open_text


def read_json(path: Path) -> Any:
    """Return the parsed JSON document in a file. Raises Refused for an empty file, and for text that isn't JSON.

    Numbers with a fraction stay text, so that no digit of a time stamp is lost. Control characters inside strings are accepted,
    because torch writes some unescaped.
    """
    with open_text(path) as text:
        contents = text.read()
    if not contents.strip():
        raise refusals.unknown(path, "an empty file", "profile again: nothing was written")
    try:
        return json.loads(contents, parse_float=str, strict=False)
    except ValueError as error:
        raise refusals.damaged(path, f"not valid JSON (cut off?): {error}") from error
    except RecursionError as error:
        raise refusals.damaged(path, "JSON nested deeper than any profiler writes it") from error


def mapping(value: object) -> dict[str, Any]:
    """Return `value` if it is a dict, else an empty one."""
    return value if isinstance(value, dict) else {}


def sequence(value: object) -> list[Any]:
    """Return `value` if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def integer(value: object) -> int | None:
    """Return an integer, or text of decimal digits, as an int between -2^63 and 2^63; None for any other value."""
    if isinstance(value, int) and not isinstance(value, bool):
        return max(-BITS_64, min(value, BITS_64))
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20 else None
