"""Counts what one launch on the CPU does: by the machine's own counters (perf), else by valgrind's callgrind.

Valgrind counts exactly, with a model of two caches, but knows no AVX-512. perf counts what the machine did, stalls too, in user
mode alone, where the machine lets it: in most containers and virtual machines it doesn't.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from kernel.runtime.formats import Fp8

TIMEOUT_S = 120
PERF_LAUNCHES = 20
EVENTS = {
    "instructions": "instructions",
    "cycles": "cycles",
    "stalled-cycles-frontend": "cycles stalled in the front end",
    "stalled-cycles-backend": "cycles stalled in the back end",
    "L1-dcache-load-misses": "L1 data cache misses",
    "cache-misses": "last-level cache misses",
}
"""Event of perf -> its name as a fact."""
_SIMULATED = {
    "instructions": re.compile(r"Collected\s*:\s*(\d+)"),
    "L1 data cache misses": re.compile(r"D1\s+misses:\s*([\d,]+)"),
    "last-level cache misses": re.compile(r"LLd?\s+misses:\s*([\d,]+)"),
}

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
    """The tool is missing, may not count here, or does not know an instruction of the build."""


def counts(library: Path, config: int, fp8: Fp8, n: int) -> tuple[str, dict[str, int]]:
    """Count one launch of an n x n x n product; return the tool and its figures by name. Raises CannotCount with every reason.

    A process with one launch is taken off one with more. (Collecting within scaled_mm_launch alone would be simpler, but
    valgrind 3.19 finds no symbols in what zig links.)
    """
    reasons = []
    for tool, launches, of_process in (("perf", PERF_LAUNCHES, _by_perf), ("callgrind", 1, _by_callgrind)):
        words = [sys.executable, "-S", "-c", _CHILD, str(library.resolve()), *(str(int(x)) for x in (config, fp8, n))]
        try:
            few, many = (of_process([*words, str(number)]) for number in (1, 1 + launches))
        except CannotCount as error:
            reasons.append(f"{tool}: {error}")
            continue
        return tool, {name: max(0, round((many[name] - few[name]) / launches)) for name in few if name in many}
    raise CannotCount("; ".join(reasons))


def _by_perf(words: list[str]) -> dict[str, int]:
    perf = shutil.which("perf")
    if perf is None:
        raise CannotCount("not on PATH")
    with tempfile.TemporaryDirectory(prefix="perf.") as folder:
        out = Path(folder) / "out"
        events = ",".join(f"{event}:u" for event in EVENTS)
        _run([perf, "stat", "-x", ",", "-o", str(out), "-e", events, "--", *words])
        return perf_figures(out.read_text(errors="replace"))


def perf_figures(text: str) -> dict[str, int]:
    """Return the counts in the output of `perf stat -x ,`, by the names of EVENTS. What was counted for a part of the time
    alone is left out. Raises CannotCount without instructions.
    """
    found: dict[str, int] = {}
    for line in text.splitlines():
        fields = line.split(",")
        event = fields[2].split(":")[0] if len(fields) > 4 else ""  # a hybrid CPU writes cpu_core/cycles/
        event = event.removesuffix("/").rpartition("/")[2]
        if event in EVENTS and fields[0].isdigit() and float(fields[4] or 0) > 99:
            found[EVENTS[event]] = found.get(EVENTS[event], 0) + int(fields[0])
    if "instructions" not in found:
        raise CannotCount("this machine lets nobody count instructions")
    return found


def _by_callgrind(words: list[str]) -> dict[str, int]:
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        raise CannotCount("no valgrind on PATH")
    with tempfile.TemporaryDirectory(prefix="callgrind.") as folder:
        said = _run([valgrind, "--tool=callgrind", "--cache-sim=yes", f"--callgrind-out-file={folder}/out", *words])
    return simulated_figures(said)


def simulated_figures(said: str) -> dict[str, int]:
    """Return the counts that callgrind prints. Raises CannotCount without instructions."""
    matches = {name: pattern.search(said) for name, pattern in _SIMULATED.items()}
    found = {name: int(match[1].replace(",", "")) for name, match in matches.items() if match}
    if "instructions" not in found:
        raise CannotCount("it printed no count")
    return found


def _run(argv: list[str]) -> str:
    try:
        ran = subprocess.run(
            argv, capture_output=True, text=True, check=False, timeout=TIMEOUT_S, env={**os.environ, "PYTHONHASHSEED": "0"}
        )
    except subprocess.TimeoutExpired as error:
        raise CannotCount(f"it took longer than {TIMEOUT_S} s") from error
    except OSError as error:
        raise CannotCount(f"cannot start it: {error.strerror}") from error
    if "Unrecognised instruction" in ran.stderr or "unhandled instruction" in ran.stderr:
        raise CannotCount("it does not know an instruction of this build")
    if ran.returncode != 0:
        raise CannotCount(f"it exited {ran.returncode}")
    return ran.stderr
