"""Real git in a temporary folder, with nothing of the machine's user in it."""

import os
from pathlib import Path

import pytest

from tests.adapters.git.user_at_work import UserAtWork, user_at_work_of
from tests.user_repository import KERNEL, Repository


@pytest.fixture(autouse=True)
def hermetic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every process of a test sees an empty HOME, no GIT_* of ours, fixed dates and a lock folder of its own."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    (tmp_path / "home").mkdir()
    (tmp_path / "locks").mkdir()
    fixed = {
        "HOME": str(tmp_path / "home"),
        "EXPCTL_LOCK_DIR": str(tmp_path / "locks"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_NAME": "user",
        "GIT_AUTHOR_EMAIL": "user@example.org",
        "GIT_AUTHOR_DATE": "1700000000 +0000",
        "GIT_COMMITTER_NAME": "user",
        "GIT_COMMITTER_EMAIL": "user@example.org",
        "GIT_COMMITTER_DATE": "1700000000 +0000",
    }
    for name, value in fixed.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A repository with one commit: src/kernel.txt, src/other.txt, notes.txt, .gitignore."""
    root = tmp_path / "repo"
    root.mkdir()
    made = Repository(root)
    made.git("init", "-q", "-b", "main")
    made.write("src/kernel.txt", KERNEL)
    made.write("src/other.txt", "other\n")
    made.write("notes.txt", "notes\n")
    made.write(".gitignore", "*.o\n")
    made.commit("first")
    return made


@pytest.fixture
def at_work(repository: Repository) -> UserAtWork:
    """A user at work on `main`, and a publication."""
    return user_at_work_of(repository)
