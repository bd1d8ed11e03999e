"""The table of hostile inputs beside this file, and what of the user's they must not touch."""

import hashlib
import os
from pathlib import Path
from typing import Any

import yaml

TABLE: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "cases.yaml").read_text(encoding="utf-8"))


def snapshot(*folders: Path) -> dict[str, str]:
    """Everything about everything below `folders` that anybody could change: kind, mode, owner, times, contents, attributes."""
    found = {}
    for folder in folders:
        for path in (folder, *sorted(folder.rglob("*"))):
            facts = path.lstat()
            said = f"{facts.st_mode:o} {facts.st_uid} {facts.st_gid} {facts.st_nlink}"
            if path.is_symlink():
                said += f" -> {os.readlink(path)}"
            elif path.is_file():
                said += f" {facts.st_mtime_ns} {hashlib.sha256(path.read_bytes()).hexdigest()} {os.listxattr(path)}"
            found[str(path)] = said
    return found
