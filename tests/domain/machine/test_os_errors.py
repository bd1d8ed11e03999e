"""What the machine refuses is told apart from bugs."""

import errno
import os

import pytest

from expctl.domain.machine.os_errors import OF_ONE_FILE, REMEDIES, explained, is_trouble


@pytest.mark.parametrize("number", REMEDIES)
def test_trouble_says_what_it_is_and_what_to_do(number: int) -> None:
    error = OSError(number, os.strerror(number), "/a/file")
    assert is_trouble(error) == (number not in OF_ONE_FILE)
    refusal = explained(error)
    assert refusal is not None
    assert refusal.message == f"expctl can't go on: {REMEDIES[number][0]}"
    assert (refusal.found, refusal.where) == (os.strerror(number), "/a/file")
    assert refusal.hint == f"{REMEDIES[number][1]}, then run the same command again: nothing measured is lost"


@pytest.mark.parametrize("number", [errno.ENOENT, errno.EBADF, errno.EINVAL])
def test_a_missing_file_is_no_trouble_of_the_machine(number: int) -> None:
    assert not is_trouble(OSError(number, "x"))
    assert explained(OSError(number, "x")) is None
