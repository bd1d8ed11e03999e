"""Folders in which compilers and readers run, as many as may run at a time, and what confines them there."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from weakref import finalize

from expctl.adapters.child.arguments import child_environment, fill
from expctl.adapters.rules.commands import at_once
from expctl.domain.protocol.model import Environment
from expctl.files import atomic_write
from expctl.launcher.captured import Timeout, captured
from expctl.launcher.launch import ChildLimits

AT_A_TIME = min(os.cpu_count() or 1, 3) + 1
"""Compilations at a time: one more than processors, so that none waits for the last of an odd number, but few enough to leave a
large machine to others."""
TRIALS = 2
"""Of a command that a signal ends: where memory is short a compiler is killed, which is no fault of what it compiles."""


class Workplaces:
    """AT_A_TIME folders below `state`, which go when this does. `mark` is in the environment of what runs there."""

    def __init__(self, state: Path, mark: str) -> None:
        self._mark = mark
        self._cache = state.parent / "cache" / "zig"
        self._environment = Environment()
        work = Path(tempfile.mkdtemp(prefix=f"work.{os.getpid()}.", dir=state))
        finalize(self, atomic_write.remove_tree, work)
        self._free: SimpleQueue[Path] = SimpleQueue()
        for number in range(AT_A_TIME):
            self._free.put(work / str(number))

    @contextmanager
    def tree(self, files: Mapping[str, bytes]) -> Iterator[tuple[Path, Path]]:
        """Put files into a folder of this process; give it, and an empty one for what is made of them. The same ones are used
        again and again, since what confines a child is made for its folders. Who has one must not wait for another.
        """
        folder = self._free.get()
        try:
            atomic_write.remove_tree(folder)
            tree, out = folder / "tree", folder / "out"
            tree.mkdir(parents=True)
            out.mkdir()
            for path, contents in files.items():
                (tree / path).parent.mkdir(parents=True, exist_ok=True)
                (tree / path).write_bytes(contents)
            yield tree, out
        finally:
            self._free.put(folder)

    def fails(self, command: Sequence[str], tree: Path, out: Path, *shared: Path, timeout_s: float) -> str:
        """Run a command in `tree`, which may write to `out` and `shared`; return what it said if it fails, else nothing."""
        environment = child_environment(self._environment, out, self._mark)
        for folder in (self._cache, out / "objects"):
            folder.mkdir(parents=True, exist_ok=True)
        environment |= {"ZIG_GLOBAL_CACHE_DIR": str(self._cache), "ZIG_LOCAL_CACHE_DIR": str(out / "objects"), "LC_ALL": "C"}
        limits = ChildLimits(scratch=(out,), shared=(self._cache, *shared))
        argv = fill(at_once(command), {"{python}": sys.executable})
        for _ in range(TRIALS):
            try:
                ran = captured(argv, timeout_s=timeout_s, environment=environment, cwd=tree, limits=limits)
            except Timeout as error:
                return f"error: {error}"
            if ran.status >= 0:
                break
        return (ran.err or ran.out or "error: the compiler failed") if ran.status else ""
