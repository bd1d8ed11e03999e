"""Runs a tool of the machine to its end and takes what it says: contained, without walls, for it is the user's own."""

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from msgspec import Struct

from expctl.launcher.launch import Launch
from expctl.launcher.running import Running, Unkillable

BYTES_MAX = 16 << 20


class Timeout(Exception):
    """It did not end in time; it has been ended."""


class Said(Struct, frozen=True, kw_only=True):
    """How a tool ended (negative: the signal) and what it wrote, at most 16 MiB of each."""

    status: int
    out: str
    err: str


def captured(argv: Sequence[str], *, timeout_s: float, environment: Mapping[str, str] | None = None) -> Said:
    """Raises OSError when it can't be started, TookTooLong."""
    launch = Launch(
        argv=argv, cwd=Path.cwd(), environment=os.environ if environment is None else environment, log=Path(os.devnull)
    )
    with open(os.devnull, "rb") as nothing, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        running = Running(launch, stdin=nothing, stdout=out, stderr=err)
        try:
            status = running.status(timeout_s)
        finally:
            try:
                running.end()
            except Unkillable as error:
                raise Timeout(str(error)) from error
        if status is None:
            raise Timeout(f"{Path(argv[0]).name} did not end within {timeout_s:g} s")
        return Said(status=status, out=_text(out), err=_text(err))


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(BYTES_MAX).decode(errors="replace")
