"""Read a large table in two processes, this one and a forked child, where a second CPU core is free."""

import marshal
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

_SIZE = 8


def read_in_parallel(read: Callable[[int], Any], parts: int) -> list[Any]:
    """Return [read(0)] for one part, [read(0), read(1)] for two `parts`; read(1) is computed in a forked child.

    Results must be data that marshal can write: numbers, text, bytes, lists, tuples, dicts. If the child fails, `read(1)` is
    called in this process, so that its error is raised here.
    """
    if parts < 2:
        return [read(0)]
    receiver, sender = os.pipe()
    child = os.fork()
    if child == 0:
        _serve(read, receiver, sender)
    os.close(sender)
    try:
        first = read(0)
        with open(receiver, "rb", closefd=False) as pipe:
            sent = pipe.read()
    finally:
        os.close(receiver)
        with suppress(ChildProcessError):  # the parent may ignore SIGCHLD, so that the system reaps children
            os.waitpid(child, 0)
    whole = len(sent) >= _SIZE and int.from_bytes(sent[:_SIZE], "big") == len(sent) - _SIZE
    return [first, marshal.loads(memoryview(sent)[_SIZE:]) if whole else read(1)]  # noqa: S302  what our own child wrote


def _serve(read: Callable[[int], Any], receiver: int, sender: int) -> None:
    """Write the size and the bytes of marshalled read(1) to the pipe `sender`, then exit; called in the forked child.
    `receiver` is the pipe's other end, which is closed first.
    """
    try:
        os.close(receiver)
        data = marshal.dumps(read(1))
        with open(sender, "wb") as pipe:
            pipe.write(len(data).to_bytes(_SIZE, "big"))
            pipe.write(data)
    finally:
        os._exit(0)


def usable_cores() -> int:
    """Return the number of CPU cores that this process may use; 1 on a system without fork."""
    if not hasattr(os, "fork"):
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def halves(first: int, last: int) -> Sequence[tuple[int, int]]:
    """Split the ids from `first` to `last` into two ranges, each as (its first id, its last id)."""
    middle = (first + last) // 2
    return ((first, middle), (middle + 1, last))
