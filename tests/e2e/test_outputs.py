"""Where output goes wrong: a full disk, a reader that left, a closed descriptor, an encoding that lacks letters."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

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
    assert (ended.returncode, ended.stderr.splitlines()[0]) == (1, "Error: cannot write standard output")
    assert "Traceback" not in ended.stderr


def test_a_closed_output_is_none(trace: Path) -> None:
    ended = shown(trace, "--json", redirect=">&-")
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_reader_that_leaves(trace: Path) -> None:
    argv = [sys.executable, "-m", "expctl", "profile", "show", str(trace), "--json"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        assert writer.stderr is not None
        writer.stdout.read(1)
        writer.stdout.close()
        said = writer.stderr.read()
    assert (writer.returncode, said) == (0, b"")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_letters_that_an_encoding_lacks(trace: Path, encoding: str) -> None:
    assert shown(trace, encoding=encoding).returncode == 0
    (name, *_) = [each["name"] for each in json.loads(shown(trace, "--json", encoding=encoding).stdout)["kernels"]]
    assert name.startswith("caf\u00e9 \u30ab\u30fc\u30cd\u30eb \U0001f600")


def test_a_pipe_is_no_profile_and_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    ended = shown(tmp_path / "pipe")
    assert (ended.returncode, "a pipe or a device" in ended.stderr) == (1, True)
