"""Long forms of tests, a core for each worker of xdist, and hypothesis on a machine that also measures."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# No deadlines, the same examples every time, nothing left on disk.
for profile, examples in (("quick", 30), ("long", 60)):
    settings.register_profile(profile, max_examples=examples, deadline=None, derandomize=True, database=None)
settings.load_profile("quick")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--long`: where a test tries a sample of its cases, try them all; and start every `expctl` cold."""
    parser.addoption("--long", action="store_true", help="try all cases where a test tries a sample of them (minutes more)")


def pytest_configure(config: pytest.Config) -> None:
    """A core for each worker: expctl measures on the last one that it may use, so two workers would share it all the time."""
    os.environ.pop("COLUMNS", None)  # expctl would wrap what tests read
    config.addinivalue_line("markers", "long: left out unless --long is given")
    config.addinivalue_line("markers", "alone: looks at a clock or at who else works; `make test` runs it beside no other test")
    if config.getoption("--long"):
        os.environ["EXPCTL_TESTS_LONG"] = "1"
        settings.load_profile("long")
    worker = getattr(config, "workerinput", None)
    if worker is not None:
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[int(worker["workerid"].removeprefix("gw")) % len(cores)]})


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is marked as long."""
    if not config.getoption("--long"):
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("long")])
        items[:] = [item for item in items if not item.get_closest_marker("long")]


@pytest.fixture(scope="session")
def long(pytestconfig: pytest.Config) -> bool:
    """Whether the long forms were asked for."""
    return bool(pytestconfig.getoption("--long"))


@pytest.fixture(scope="session")
def zig_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiler cache of a session. Cold at first; a shared library without libc fills it in a second or two."""
    return tmp_path_factory.mktemp("zig")
