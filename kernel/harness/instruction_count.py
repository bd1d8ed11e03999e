"""Counts the instructions of one launch on the CPU exactly, with valgrind's callgrind where it can run the build."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from kernel.runtime.formats import Fp8

_COLLECTED = re.compile(r"Collected\s*:\s*(\d+)")
TIMEOUT_S = 120

# The child has no numpy: starting it under valgrind would take longer than the count.
_CHILD = """
import ctypes, sys
library, config, b_dtype, n = ctypes.CDLL(sys.argv[1]), *map(int, sys.argv[2:5])
half = b"\\x00\\x3c\\x00\\xb8" * (n * n // 2)
a, c = ctypes.create_string_buffer(half, 2 * n * n), ctypes.create_string_buffer(2 * n * n)
b = ctypes.create_string_buffer(b"\\x3c\\xb9" * (library.scaled_mm_packed_bytes(n, n) // 2))
library.scaled_mm_launch.argtypes = [ctypes.c_int] * 2 + [ctypes.c_void_p] * 4 + [ctypes.c_float] + [ctypes.c_int] * 5
blocks = library.scaled_mm_row_blocks(config, n)
for launch in range(int(sys.argv[5])):
    error = library.scaled_mm_launch(config, b_dtype, a, b, None, c, 0.5, n, n, n, 0, blocks)
    if error:
        sys.exit(error)
"""


class CannotCount(Exception):
    """No valgrind, or it does not know an instruction of the build (it knows no AVX-512)."""


def instructions(library: Path, config: int, fp8: Fp8, n: int) -> int:
    """Count one launch of an n x n x n product: a process with two launches minus one with one. Raises CannotCount.

    (Collecting within scaled_mm_launch alone would be simpler, but valgrind 3.19 finds no symbols in what zig links.)
    """
    once, twice = (_of_process(library, config, fp8, n, launches) for launches in (1, 2))
    return twice - once


def _of_process(library: Path, config: int, fp8: Fp8, n: int, launches: int) -> int:
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        raise CannotCount("no valgrind on PATH")
    words = [str(library.resolve()), *(str(int(x)) for x in (config, fp8, n, launches))]
    with tempfile.TemporaryDirectory(prefix="callgrind.") as folder:
        argv = [
            valgrind,
            "--tool=callgrind",
            f"--callgrind-out-file={folder}/out",
            sys.executable,
            "-S",
            "-c",
            _CHILD,
            *words,
        ]
        try:
            ran = subprocess.run(
                argv,
                capture_output=True,
                text=True,
                check=False,
                timeout=TIMEOUT_S,
                env={**os.environ, "PYTHONHASHSEED": "0"},
            )
        except subprocess.TimeoutExpired as error:
            raise CannotCount(f"valgrind took longer than {TIMEOUT_S} s") from error
    if "Unrecognised instruction" in ran.stderr or "unhandled instruction" in ran.stderr:
        raise CannotCount("valgrind does not know an instruction of this build")
    collected = _COLLECTED.search(ran.stderr)
    if ran.returncode != 0 or collected is None:
        raise CannotCount(f"valgrind exited {ran.returncode}")
    return int(collected[1])
