"""One compiler cache for all tests of a session."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def zig_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Cold at first; a shared library without libc fills it in a second or two."""
    return tmp_path_factory.mktemp("zig")
