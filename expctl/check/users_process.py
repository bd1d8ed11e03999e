"""Start the process that runs the Python of a launch description, ask it, and say what goes wrong in it as an error."""

from __future__ import annotations

import os
import socket
import struct
import sys
import weakref
from collections.abc import Mapping
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, cast

from expctl.check.users_code import NO_PLAIN_DATA, Answer, Defined
from expctl.domain.errors import Refused
from expctl.domain.text import one_line
from expctl.launcher.launch import Launch
from expctl.launcher.running import Running

SECONDS_MOST = 60.0
"""Of the file, and of each call of its reference."""
BESIDE_S = 10.0
"""For starting and sending. More passes only where the process can't end the user's code itself."""
ENDING_S = 0.5
START = """
import sys
descriptor, file, seconds_most, *sys.path[:] = sys.argv[1:]
from expctl.check.users_code import serve
serve(int(descriptor), file, float(seconds_most))
"""


class UsersProcess:
    """A process that ran the user's file `path` to its end, prints to standard error, and ends with this object. `defined` is
    what the file defines. Raises Refused for whatever the file raises, for more than SECONDS_MOST, and if its process ends.
    """

    def __init__(self, path: Path, where: str) -> None:
        self._where = where
        self._pipe, theirs = Pipe()
        _limit(self._pipe, SECONDS_MOST + BESIDE_S)
        words = (str(theirs.fileno()), str(path), str(SECONDS_MOST), *map(str, sys.path))
        launch = Launch(
            argv=(sys.executable, "-P", "-u", "-c", START, *words),
            cwd=Path.cwd(),
            environment=os.environ,
            log=Path(os.devnull),
        )
        with theirs, open(os.devnull, "rb") as nothing, open(2, "wb", closefd=False) as errors:
            self._running = Running(launch, stdin=nothing, stdout=errors, pass_fds=(theirs.fileno(),), adopts=False)
        end = weakref.finalize(self, _end, self._pipe, self._running)
        try:
            self.defined = cast(Defined, self._answer())
        except BaseException:
            end()
            raise

    def reference(self, arrays: Mapping[str, Any], shapes: Mapping[str, int]) -> Any:
        """Return what the file's reference returns. Raises Refused as the file does."""
        return self._answer((arrays, shapes))

    def _answer(self, *requests: tuple[Any, ...]) -> Any:
        try:
            for request in requests:
                self._pipe.send(request)
            answer: Answer = self._pipe.recv()
        except BlockingIOError:
            answer = Answer(error=f"it goes on after {SECONDS_MOST:g} seconds")
        except (EOFError, OSError):
            answer = Answer(error=f"{self._ending()}, before it came to its end")
        except Exception as error:  # noqa: BLE001  objects of the file's own classes can't be read here, for any reason
            answer = Answer(error=one_line(f"{NO_PLAIN_DATA}{error}", 300))
        if answer.error:
            raise self._failed(answer)
        return answer.given

    def _ending(self) -> str:
        status = self._running.status(BESIDE_S)
        if status is None:
            return "its process closed what it answers by"
        return f"its process ended {f'with status {status}' if status >= 0 else f'by signal {-status}'}"

    def _failed(self, answer: Answer) -> Refused:
        return Refused(
            "the Python of the launch description failed",
            code="case-failed",
            expected="a file that defines case, and reference if you like",
            found=answer.error,
            where=f"{self._where}:{answer.line}" if answer.line else self._where,
            hint="correct that line, and run again",
        )


def _limit(pipe: Connection, seconds: float) -> None:
    """Let no reading and no writing wait longer than this: BlockingIOError."""
    time = struct.pack("@ll", *divmod(round(seconds * 1e6), 1_000_000))
    with socket.socket(fileno=os.dup(pipe.fileno())) as same:
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            same.setsockopt(socket.SOL_SOCKET, option, time)


def _end(pipe: Connection, running: Running) -> None:
    pipe.close()
    running.status(ENDING_S)
    running.kill()
