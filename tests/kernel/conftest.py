from __future__ import annotations

import pytest

from kernel.runtime.build import build
from kernel.runtime.library import Library


@pytest.fixture(scope="session")
def cpu_library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """This checkout's kernel, built for this CPU with all its configs."""
    return Library(build("cpu", tmp_path_factory.mktemp("cpu")), "cpu")
