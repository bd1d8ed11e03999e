"""Folders that killed processes left where versions are compiled."""

import time
from contextlib import suppress
from pathlib import Path

from expctl.files import atomic_write

ABANDONED_S = 3600


def remove_abandoned(state: Path) -> None:
    """Remove the folders that killed processes left in `state`. One of another container may have a number that isn't here."""
    for folder in state.glob("*.*.*"):
        word, number, _ = folder.name.split(".", 2)
        if word in ("work", "anew") and number.isdigit() and not Path("/proc", number).exists():
            with suppress(OSError):  # another process removes it
                if time.time() - folder.stat().st_mtime > ABANDONED_S:
                    atomic_write.remove_tree(folder)
