"""Small state files as JSON that holds a hash of itself, so that a damaged one is told from a sound one.

A file that an older expctl wrote has no hash; it is read as it is.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from expctl.files import atomic_write
from expctl.files.parse_json import parse_json

CHECK = "check"


class Damaged(ValueError):
    """The file is not what was written."""


def write(path: Path, facts: Mapping[str, Any]) -> None:
    """Write `facts` to `path`, atomically and durably. Raises OSError."""
    atomic_write.replace(path, json.dumps({**facts, CHECK: _hash_of(facts)}, indent=1).encode() + b"\n")


def read(path: Path) -> Any:
    """Return what `write` stored in `path`, or an older expctl without a hash. Raises FileNotFoundError, and Damaged."""
    try:
        if path.is_fifo():  # which would keep the reader waiting
            raise Damaged("a named pipe")
        return checked(parse_json(path.read_bytes().decode()))
    except Damaged:
        raise
    except (ValueError, RecursionError) as error:
        raise Damaged(f"not JSON: {error}") from error


def sound_text(path: Path) -> bytes:
    """Return the JSON that `read` returns, as text for a strict decoder. Raises OSError and Damaged."""
    return json.dumps(read(path)).encode()


def line(facts: Mapping[str, Any]) -> bytes:
    """Return `facts` as one line of JSON with its hash."""
    return json.dumps({**facts, CHECK: _hash_of(facts)}, separators=(",", ":")).encode() + b"\n"


def checked(found: Any) -> Any:
    """Return parsed JSON without its hash, after a look whether that is right. Raises Damaged."""
    if isinstance(found, dict) and CHECK in found and found.pop(CHECK) != _hash_of(found):
        raise Damaged("its contents are not what was written")
    return found


def _hash_of(facts: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
