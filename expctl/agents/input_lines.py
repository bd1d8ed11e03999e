"""Standard input by lines, for a server that Ctrl-C ends while it waits for one."""

import contextlib
import os
from collections.abc import AsyncIterator

import anyio

AT_ONCE = 1 << 16


async def input_lines() -> AsyncIterator[str]:
    """Yield the lines of standard input until its end. What else reads it meanwhile, a child for instance, finds it empty."""
    descriptor, nothing = os.dup(0), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    rest = b""
    while True:
        with contextlib.suppress(PermissionError):  # of a file, which never keeps one waiting
            await anyio.wait_readable(descriptor)
        part = os.read(descriptor, AT_ONCE)
        *lines, rest = (rest + part).split(b"\n")
        for line in lines if part or not rest else [rest]:
            yield line.decode(errors="replace")
        if not part:
            return
