"""Map a function over slices of a list in forked processes, because Python computes on one core at a time."""

import gc
import os
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

PART_LEAST = 400  # items that repay the cost of a fork


def parallel_map(work: Callable[[Sequence[T]], list[R]], items: Sequence[T], *, cores: int = 0) -> list[R]:
    """Call `work` on slices of `items` in processes on `cores` cores (0: all); return all its results, in the order of `items`.
    Raises what `work` raises.
    """
    parts = min(cores or len(os.sched_getaffinity(0)), len(items) // PART_LEAST)
    if parts < 2:
        return work(items)
    size = -(-len(items) // parts)
    slices = [items[start : start + size] for start in range(0, len(items), size)]
    handed: list[list[R] | None] = []
    forks = [_begun(work, part) for part in slices[1:]]
    try:
        done = work(slices[0])
    finally:
        handed = [_handed(*fork) for fork in forks]
    for part, found in zip(slices[1:], handed, strict=True):  # None: its process failed; here `work` can raise
        done += work(part) if found is None else found
    return done


def _begun(work: Callable[[Sequence[T]], list[R]], part: Sequence[T]) -> tuple[int, int]:  # process id, end of a pipe
    read, write = os.pipe()
    child = os.fork()
    if child:
        os.close(write)
        return child, read
    status = 1
    with suppress(BaseException):  # a fork must not print, nor run its parent's clean-up
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.close(read)
        gc.disable()
        import pickle

        with open(write, "wb") as pipe:
            pickle.dump(work(part), pipe, protocol=pickle.HIGHEST_PROTOCOL)
        status = 0
    os._exit(status)


def _handed(child: int, read: int) -> list[R] | None:
    import pickle

    with open(read, "rb") as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    return None if status else pickle.loads(text)  # noqa: S301  our own fork wrote it
