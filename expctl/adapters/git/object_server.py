"""One `git cat-file` that stays, and answers requests by a pipe: a request costs no process.

It reads refs and objects anew for each name, so it sees what any git writes meanwhile. It ends when its input is closed, hence
with this process, however that ends.
"""

import contextlib
import os
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import IO, NamedTuple

from expctl.adapters.git.command import Process, start_git
from expctl.adapters.machine.signals import uninterrupted

NAMES_MAX_BYTES = 4096
"""Of all names in a request: the least that a pipe holds, so that git and this process never wait for each other."""


class Answer(NamedTuple):
    """What git has under a name: id, kind and contents of an object; an empty id if there is none."""

    id: str
    kind: bytes
    contents: bytes


class ObjectServer:
    """The process for the repository whose work tree is `root`; `foreign` as for a Place. Threads may share it."""

    def __init__(self, root: Path, *, foreign: bool) -> None:
        self._root, self._foreign = root, foreign
        self._owner = os.getpid()
        self._lock = Lock()
        self._git: Process | None = None
        self._end: Callable[[], object] = lambda: None

    def takes(self, names: Sequence[str]) -> bool:
        """Can it be asked for these? Not in a fork of the process that made it: both would read one pipe."""
        small = sum(len(os.fsencode(name)) + 1 for name in names) <= NAMES_MAX_BYTES
        return small and os.getpid() == self._owner and not any("\n" in name for name in names)

    def ask(self, names: Sequence[str]) -> list[Answer] | None:
        """Return what git has under `names`; None if no process can be started, or it ended before it had answered, e.g.
        because an object is damaged: a call of git for the same names then says why.
        """
        with self._lock:
            try:
                return self._asked(names)
            except (OSError, EOFError):
                self._end()
                return None
            except BaseException:  # an answer may be half read
                self._end()
                raise

    def _asked(self, names: Sequence[str]) -> list[Answer]:
        git = self._running()
        if git.stdin is None or git.stdout is None:
            raise EOFError
        git.stdin.write(b"".join(os.fsencode(name) + b"\n" for name in names))
        git.stdin.flush()
        return [read_answer(git.stdout) for _ in names]

    def _running(self) -> Process:
        if self._git is not None and self._git.poll() is None:
            return self._git
        self._end()
        with uninterrupted():  # else a Ctrl-C might leave a process of which nobody knows
            self._git = start_git(self._root, ["cat-file", "--batch"], user_config=self._foreign)
            self._end = weakref.finalize(self, _end, self._git, self._owner)
        return self._git


def read_answer(output: IO[bytes]) -> Answer:
    """Read one answer of `git cat-file --batch`. Raises EOFError if it isn't whole."""
    # It is `oid type size LF contents LF`, or `name missing LF`.
    line = output.readline()
    words = line.rsplit(None, 2)
    if not line.endswith(b"\n"):
        raise EOFError
    if words[-1] in (b"missing", b"ambiguous"):
        return Answer("", b"", b"")
    contents = output.read(int(words[-1]) + 1)
    if len(contents) <= int(words[-1]):
        raise EOFError
    return Answer(words[0].decode(), words[1], contents[:-1])


def _end(git: Process, owner: int) -> None:
    if os.getpid() != owner:
        return
    git.kill()  # it only reads
    for pipe in (git.stdin, git.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    git.wait()
