"""Small state files as JSON that holds a hash of itself, so that a damaged one is told from a sound one.

A file that an older expctl wrote has no hash; it is read as it is.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from expctl.files import atomic_write

CHECK = "check"


class Damaged(ValueError):
    """The file is not what was written."""


def write(path: Path, facts: dict[str, Any]) -> None:
    """Write `facts` to `path`, atomically and durably. Raises OSError."""
    atomic_write.replace(path, json.dumps({**facts, CHECK: _hash_of(facts)}).encode())


def read(path: Path) -> Any:
    """Return what `write` stored in `path`, or what an older expctl did. Raises FileNotFoundError, and Damaged."""
    try:
        found = json.loads(path.read_bytes())
    except ValueError as error:
        raise Damaged(f"{path.name} is not JSON") from error
    if isinstance(found, dict):
        check = found.pop(CHECK, None)
        if check != _hash_of(found):
            raise Damaged(f"{path.name} is not what was written")
    return found


def _hash_of(facts: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
