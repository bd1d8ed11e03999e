"""Two halves, whatever becomes of the child."""

import os
import signal
from collections.abc import Iterator

import pytest

from expctl.profiles.readers.split_read import read_in_parallel


@pytest.fixture
def nobody_reaps() -> Iterator[None]:
    """As under a parent that ignores its children's ends: the system takes them away."""
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGCHLD, before)


def test_both_halves() -> None:
    here = os.getpid()
    (mine, _), (its, values) = read_in_parallel(lambda part: (os.getpid(), [part] * 200_000), 2)
    assert (mine == here, its == here, values) == (True, False, [1] * 200_000)
    assert read_in_parallel(lambda part: part, 1) == [0]


@pytest.mark.usefixtures("nobody_reaps")
def test_children_that_the_system_takes_away() -> None:
    assert read_in_parallel(lambda part: part * 10, 2) == [0, 10]


def test_a_child_that_dies_is_done_for() -> None:
    here = os.getpid()

    def read(part: int) -> int:
        if os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return part

    assert read_in_parallel(read, 2) == [0, 1]


def test_the_error_of_the_second_half_is_raised_here(capfd: pytest.CaptureFixture[str]) -> None:
    def read(part: int) -> int:
        return 1 // (1 - part)

    with pytest.raises(ZeroDivisionError):
        read_in_parallel(read, 2)
    assert capfd.readouterr().err == ""
