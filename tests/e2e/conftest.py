"""Fixtures of the end-to-end tests: real processes, real git, nothing of the machine's user."""

from pathlib import Path

import pytest

from tests.e2e.foreign import Foreign


@pytest.fixture
def repository(tmp_path: Path) -> Foreign:
    """A repository with a kernel in Python."""
    return Foreign.of("foreign_repository", tmp_path)


@pytest.fixture
def c_repository(tmp_path: Path) -> Foreign:
    """A repository with a kernel in C."""
    return Foreign.of("c_repository", tmp_path)
