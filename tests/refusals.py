"""A refusal is asserted by its code: its words are in docs/ERRORS.md, and may change."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from expctl.domain.errors import Refused


@contextmanager
def refuses(code: str, kind: type[Refused] = Refused) -> Iterator[pytest.ExceptionInfo[Refused]]:
    """The block raises a `kind` with this `code`. Gives the ExceptionInfo, for figures and paths in the refusal."""
    with pytest.raises(kind) as caught:
        yield caught
    assert caught.value.code == code


def printed_code(stderr: str) -> str:
    """The code of the refusal that a command printed to `stderr`; empty when it printed none."""
    lines = [line for line in stderr.splitlines() if line.startswith("Error [")]
    return lines[-1].removeprefix("Error [").split("]")[0] if lines else ""
