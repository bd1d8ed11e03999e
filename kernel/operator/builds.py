"""Finds a build of the kernel for a machine, or makes one and keeps it."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import subprocess
import tempfile
from pathlib import Path

from kernel.runtime import build
from kernel.runtime.library import Library, LibraryError, open_library

VARIABLE = "EXPCTL_KERNEL_LIBRARY"
"""Names builds to use instead of making one, as PATH names folders; the first for the machine is taken."""


@functools.cache
def library_for(target: str, ordinal: int = 0) -> Library:
    """Load a build for `target`, once per process; a GPU build opens device `ordinal`. Raises BuildError or LibraryError."""
    given = os.environ.get(VARIABLE)
    if given:
        return _first(given.split(os.pathsep), target, ordinal)
    return open_library(kept(target), target, ordinal)


def _first(paths: list[str], target: str, ordinal: int) -> Library:
    problems = []
    for path in paths:
        try:
            return open_library(Path(path), target, ordinal)
        except LibraryError as error:
            problems.append(str(error))
    raise LibraryError(f"{VARIABLE} names no usable build for {target}: {'; '.join(problems)}")


def kept(target: str) -> Path:
    """Return the build of this source by this compiler in the user's cache; make it if it isn't there. Raises BuildError."""
    argv = build.command(target, Path("scaled_mm.so"))
    folder = cache() / _key(argv)
    library = folder / "scaled_mm.so"
    if not library.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as made:
            build.build(target, Path(made)).replace(library)
    return library


def cache() -> Path:
    """Return the folder of the builds that are kept for the operator."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "expctl" / "kernel"


def _key(argv: list[str]) -> str:
    """Return a name for what decides a build: source, command, compiler, and the processor that -march=native means."""
    compiler = argv[: argv.index("-x")] if "-x" in argv else argv[:1]
    told = subprocess.run([*compiler, "--version"], capture_output=True, check=False)
    sources = [file.read_bytes() for file in sorted(build.SOURCE.rglob("*")) if file.is_file() and file.suffix != ".json"]
    parts = [" ".join(argv).encode(), told.stdout, _processor(), *sources]
    return hashlib.sha256(b"\0".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()[:24]


def _processor() -> bytes:
    """Return the names of the processor's features, where Linux tells them, or its name."""
    try:
        lines = Path("/proc/cpuinfo").read_bytes().splitlines()
    except OSError:
        return platform.processor().encode()
    return next((line for line in lines if line.startswith((b"flags", b"Features"))), b"")
