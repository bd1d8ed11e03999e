"""Where output goes wrong: a full disk, a reader that left, a closed descriptor, an encoding that lacks letters."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.foreign import WRONG, Foreign
from tests.refusals import printed_code

HEAD = "Kernel_Name,Start_Timestamp,End_Timestamp\n"


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace.csv"
    path.write_text(HEAD + "".join(f"caf\u00e9 \u30ab\u30fc\u30cd\u30eb \U0001f600 {n},{n},{n + 5}\n" for n in range(200)))
    return path


def shown(path: Path, *words: str, redirect: str = "", encoding: str = "utf-8") -> "subprocess.CompletedProcess[str]":
    command = f'"{sys.executable}" -m expctl profile show "{path}" {" ".join(words)} {redirect}'
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    return subprocess.run(["/bin/sh", "-c", command], env=environment, capture_output=True, text=True, errors="replace")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_a_full_disk(trace: Path) -> None:
    ended = shown(trace, "--json", redirect="> /dev/full")
    assert (ended.returncode, printed_code(ended.stderr)) == (1, "output-not-writable")
    assert "Traceback" not in ended.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_a_run_whose_output_finds_no_room_concludes(repository: Foreign) -> None:
    repository.queue("P1", WRONG)
    with open("/dev/full", "w") as full:
        words = [sys.executable, "-m", "expctl", "run", "P1"]
        ended = subprocess.run(
            words, cwd=repository.root, env=repository.environment, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert (ended.returncode, ended.stderr) == (
        0,
        "the output can't be written (No space left on device): this goes on without it\n",
    )
    assert repository.record("P1")["verdict"] == "REJECT"


def test_a_closed_output_is_none(trace: Path) -> None:
    ended = shown(trace, "--json", redirect=">&-")
    assert (ended.returncode, ended.stderr) == (0, "")


KERNEL = "#include <hip/hip_runtime.h>\n__global__ void k(float *o) { o[threadIdx.x] = 1; }\n"
CASE = "block: [64]\nshapes: {n: 64}\ngrid: [1]\narguments:\n  - {name: o, dtype: f32, shape: [n], role: out}\n"


def test_a_check_with_a_closed_standard_error(tmp_path: Path) -> None:
    (tmp_path / "k.hip").write_text(KERNEL)
    (tmp_path / "case.yaml").write_text(CASE)
    words = f'"{sys.executable}" -m expctl check k.hip --launch case.yaml 2>&-'
    ended = subprocess.run(["/bin/sh", "-c", words], cwd=tmp_path, capture_output=True, text=True)
    assert (ended.returncode, "nothing found" in ended.stdout) == (0, True), ended.stdout


def unread(words: tuple[str, ...], **options: Any) -> tuple[int, bytes]:
    """Exit status and standard error of expctl whose standard output nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ended = subprocess.run([sys.executable, "-m", "expctl", *words], stdout=writing, stderr=subprocess.PIPE, **options)
    finally:
        os.close(writing)
    return ended.returncode, ended.stderr


def test_a_reader_that_leaves(trace: Path) -> None:
    assert unread(("profile", "show", str(trace), "--json")) == (0, b"")
    assert unread(("--help",)) == (0, b"")


def test_a_reader_that_leaves_a_run_misses_its_end(repository: Foreign) -> None:
    repository.queue("P1", WRONG)
    assert unread(("run", "P1"), cwd=repository.root, env=repository.environment) == (0, b"")
    assert repository.record("P1")["verdict"] == "REJECT"
    repository.check_nothing_is_left()


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_letters_that_an_encoding_lacks(trace: Path, encoding: str) -> None:
    assert shown(trace, encoding=encoding).returncode == 0
    (name, *_) = [each["name"] for each in json.loads(shown(trace, "--json", encoding=encoding).stdout)["kernels"]]
    assert name.startswith("caf\u00e9 \u30ab\u30fc\u30cd\u30eb \U0001f600")


def test_a_pipe_is_no_profile_and_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    ended = shown(tmp_path / "pipe")
    assert (ended.returncode, "a pipe or a device" in ended.stderr) == (1, True)
