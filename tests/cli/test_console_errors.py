"""The error boundary: which end has which words and which status."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from expctl.cli.console_errors import guard
from expctl.domain.errors import ExitStatus


def raising(error: Exception) -> int:
    def command() -> None:
        raise error

    return guard(command)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.EROFS, "the disk can't be written"),
        (errno.ENOSPC, "the disk is full"),
        (errno.EDQUOT, "quota"),
        (errno.EACCES, "permission is denied"),
        (errno.EISDIR, "a folder is in the way"),
        (errno.ENOTDIR, "move it aside"),
        (errno.EEXIST, "move it aside"),
    ],
)
def test_a_disk_that_gives_way_is_no_bug_of_ours(number: int, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert raising(OSError(number, "says the kernel", "/repository/.git/expctl/lock")) == ExitStatus.REFUSED
    said = capsys.readouterr().err
    assert said.startswith("Error [machine-trouble]: ")
    assert "Traceback" not in said
    for part in (words, "says the kernel", "/repository/.git/expctl/lock", "\n  next "):
        assert part in said


def test_memory_that_is_used_up_is_no_bug_of_ours(capsys: pytest.CaptureFixture[str]) -> None:
    assert raising(MemoryError()) == ExitStatus.REFUSED
    assert "Error [machine-trouble]: expctl can't go on: there is no memory left" in capsys.readouterr().err


def test_any_other_error_is_ours(capsys: pytest.CaptureFixture[str]) -> None:
    assert raising(OSError(errno.EBADF, "says the kernel")) == ExitStatus.BUG
    assert raising(ValueError("no")) == ExitStatus.BUG
    said = capsys.readouterr().err
    assert (said.count("BUG:"), said.count("Traceback")) == (2, 2)


def test_ctrl_c_while_the_command_line_loads_has_words(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    ended = subprocess.run(
        [sys.executable, "-m", "expctl", "queue"], env=environment, cwd=tmp_path, capture_output=True, text=True
    )
    assert (ended.returncode, ended.stderr) == (ExitStatus.INTERRUPTED, "\nInterrupted\n")
