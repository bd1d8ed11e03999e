"""Run a tool that is installed on the machine, e.g. a compiler, and return its output. It may write where the user can, unless
it is confined.
"""

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from msgspec import Struct

from expctl.launcher.launch import ChildLimits, Launch
from expctl.launcher.running import Running, Unkillable

BYTES_MAX = 16 << 20


class Timeout(Exception):
    """The tool did not end in time. It has been killed, unless the message says that this was impossible."""


class Output(Struct, frozen=True, kw_only=True):
    """The exit status of a tool (negative: minus the signal that ended it), and its output and errors, at most 16 MiB each."""

    status: int
    out: str
    err: str


def captured(
    argv: Sequence[str],
    *,
    timeout_s: float,
    environment: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    limits: ChildLimits | None = None,
) -> Output:
    """Run the command `argv` with empty input and return its output. `environment` and `cwd` replace this process's; with
    `limits` it is confined. May be called by several threads at once. Raises OSError if the command can't be started, Timeout
    if it runs for over `timeout_s`.
    """
    launch = Launch(
        argv=argv,
        cwd=cwd or Path.cwd(),
        environment=os.environ if environment is None else environment,
        log=Path(os.devnull),
        limits=limits,
    )
    with open(os.devnull, "rb") as nothing, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        running = Running(launch, stdin=nothing, stdout=out, stderr=err, adopts=False)
        try:
            status = running.status(timeout_s)
        finally:
            try:
                running.end()
            except Unkillable as error:
                raise Timeout(str(error)) from error
        if status is None:
            raise Timeout(f"{Path(argv[0]).name} did not end within {timeout_s:g} s")
        return Output(status=status, out=_text(out), err=_text(err))


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(BYTES_MAX).decode(errors="replace")
