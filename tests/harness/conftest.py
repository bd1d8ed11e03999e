"""Runs a harness of a few lines as expctl does, and reads what it says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Said = tuple[int, list[dict[str, Any]]]
Serve = Callable[..., Said]

HARNESS = """\
import numpy as np

from expctl.harness import Kernel, serve


class Axpy(Kernel):
    sizes = {"n=4096": dict(n=4096)}
    rel_l2 = 1e-12

    def inputs(self, rng, n):
        return rng.standard_normal(n), rng.standard_normal(n), float(rng.random())

    def outputs(self, n):
        return np.empty(n),

    def call(self, build, x, y, a, out):
        build.axpy(x, y, a, out)

    def reference(self, x, y, a):
        return a * x + y


serve(Axpy)
"""
BUILD = """\
def axpy(x, y, a, out):
    out[:] = x
    out *= a
    out += y
"""
TEST = ({"do": "test", "nonce": "ab"},)
BEGIN = {"do": "begin", "nonce": "ab", "seed": 7, "sizes": ["n=4096"]}
TIMED = (BEGIN, {"do": "time", "size": "n=4096", "iterations": 4}, {"do": "check"}, {"do": "end"})


def served(folder: Path, requests: tuple[dict[str, Any], ...], *words: str, artifact: str = "build.py") -> Said:
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "bench.py", artifact, *words],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
        pass_fds=[writing],
        env={**os.environ, "EXPCTL_RESULT_FD": str(writing)},
    )
    os.close(writing)
    process.communicate("".join(json.dumps(request) + "\n" for request in requests), timeout=120)
    with os.fdopen(reading) as lines:
        return process.returncode, [json.loads(line) for line in lines]


@pytest.fixture
def serve(tmp_path: Path) -> Serve:
    """Serve `harness` on `build` with these requests; status and messages."""

    def run(requests: tuple[dict[str, Any], ...], *words: str, harness: str = HARNESS, build: str = BUILD) -> Said:
        (tmp_path / "bench.py").write_text(harness)
        (tmp_path / "build.py").write_text(build)
        return served(tmp_path, requests, *words)

    return run


def changed(text: str, before: str, after: str) -> str:
    assert text.count(before) == 1, f"{before!r} occurs {text.count(before)} times"
    return text.replace(before, after)
