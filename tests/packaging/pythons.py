"""The interpreters of this machine that expctl supports."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

NEWEST_TRIED = 20


@cache
def pythons() -> dict[str, Path]:
    """`3.11` -> an interpreter of that version: this one, those on PATH, and those installed beside this one. Not those of
    virtual environments.
    """
    found = {version: path for path in _candidates() if (version := _version(path))}
    return dict(sorted(found.items(), key=lambda item: int(item[0].split(".")[1])))


def _candidates() -> Iterator[Path]:
    """Yield paths that may be interpreters, those that are preferred last."""
    yield from (folder / "bin" / "python3" for folder in Path(sys.base_prefix).parent.glob("*"))
    for minor in range(11, NEWEST_TRIED):
        on_path = shutil.which(f"python3.{minor}", path=os.environ.get("PATH"))
        yield from [Path(on_path)] if on_path else []
    yield Path(sys.base_prefix) / "bin" / "python3"


def _version(path: Path) -> str:
    script = "import sys, venv; assert sys.prefix == sys.base_prefix; print('%d.%d' % sys.version_info[:2])"
    try:
        said = subprocess.run([path, "-c", script], capture_output=True, text=True).stdout.strip()
    except OSError:
        return ""
    return said if said.startswith("3.") and int(said[2:]) >= 11 else ""
