"""Stand-ins for programs: shell scripts on PATH that answer what a test wrote down."""

from pathlib import Path

import pytest


def program(folder: Path, name: str, script: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a program `name` that runs the shell `script` into `folder`/bin, and that folder first on a PATH of the system's."""
    file = folder / "bin" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    monkeypatch.setenv("PATH", f"{file.parent}:/usr/bin:/bin")
    return file
