"""Says who can give this user a right to a file, and how."""

import os
from pathlib import Path


def permission_mend(path: Path, right: str) -> str:
    """Return what gives this user the `right` (of chmod: r, w, x) to `path`: a command if they own it, else who can help."""
    if path.lstat().st_uid == os.geteuid():
        import shlex  # what only reads has to be quick

        return f"chmod u+{right} {shlex.quote(str(path))}"
    try:
        owner = path.owner()
    except KeyError:  # a user without a name
        owner = f"user {path.lstat().st_uid}"
    return f"it belongs to {owner}: work as that user, or in a clone of your own"
