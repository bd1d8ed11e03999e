"""Splits reading of a large table between this process and a forked child, where there is a second core."""

import marshal
import os
from collections.abc import Callable, Sequence
from typing import Any


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
        _, status = os.waitpid(child, 0)
    return [first, marshal.loads(sent) if status == 0 else read(1)]  # noqa: S302  what our own child wrote


def _serve(read: Callable[[int], Any], receiver: int, sender: int) -> None:
    """In the child: read, write, leave, and run nothing of the parent's on the way out."""
    status = 1
    try:
        os.close(receiver)
        with open(sender, "wb") as pipe:
            marshal.dump(read(1), pipe)
        status = 0
    finally:
        os._exit(status)


def cores() -> int:
    """How many this process may use."""
    if not hasattr(os, "fork"):
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def halves(first: int, last: int) -> Sequence[tuple[int, int]]:
    """Two ranges of ids, both ends included."""
    middle = (first + last) // 2
    return ((first, middle), (middle + 1, last))
