"""Splits reading of a large table between this process and a forked child, where there is a second core."""

import marshal
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

_SIZE = 8


def in_two(read: Callable[[int], Any], parts: int) -> list[Any]:
    """`[read(0), read(1)]` for two parts, else `[read(0)]`. Results are plain data: numbers, text, bytes, lists, tuples, dicts.

    A part whose child fails is read here, so that its error is raised where errors are.
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
        with suppress(ChildProcessError):  # whoever started us may have children reaped by the system
            os.waitpid(child, 0)
    whole = len(sent) >= _SIZE and int.from_bytes(sent[:_SIZE], "big") == len(sent) - _SIZE
    return [first, marshal.loads(memoryview(sent)[_SIZE:]) if whole else read(1)]  # noqa: S302  what our own child wrote


def _serve(read: Callable[[int], Any], receiver: int, sender: int) -> None:
    """In the child: read, write how much comes and all of it, leave, and run nothing of the parent's on the way out."""
    try:
        os.close(receiver)
        data = marshal.dumps(read(1))
        with open(sender, "wb") as pipe:
            pipe.write(len(data).to_bytes(_SIZE, "big"))
            pipe.write(data)
    finally:
        os._exit(0)


def cores() -> int:
    """How many this process may use."""
    if not hasattr(os, "fork"):
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def halves(first: int, last: int) -> Sequence[tuple[int, int]]:
    """Two ranges of ids, both ends included."""
    middle = (first + last) // 2
    return ((first, middle), (middle + 1, last))
