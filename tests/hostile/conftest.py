"""Real git, real processes, and a user's files that nobody may touch."""

import os
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def hermetic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty HOME, no GIT_* of the machine's, fixed names."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    (tmp_path / "home").mkdir()
    fixed = {"HOME": str(tmp_path / "home"), "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    fixed |= {f"GIT_{role}_NAME": "user" for role in ("AUTHOR", "COMMITTER")}
    fixed |= {f"GIT_{role}_EMAIL": "user@example.org" for role in ("AUTHOR", "COMMITTER")}
    for name, value in fixed.items():
        monkeypatch.setenv(name, value)
