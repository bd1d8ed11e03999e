"""What a command prints fits into the terminal, and grows with it; a pipe gets whole lines."""

import os
import pty
import shlex
import struct
import subprocess
import sys
from dataclasses import replace
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ

import pytest

from tests.cli.conftest import COMMANDS, NAME, TITLE, Played

CHANGES = (
    "try faster.patch",
    "new",
    "withdraw",
    "run",
    "audit",
    "calibrate",
    "import",
    "finding add",
    "finding supersede",
    "finding contradict",
)
READS = [words for words, schema in COMMANDS if not words.startswith(CHANGES) and schema != "proposal/1"]
READS.append("import ledger_by_hand.md --target gfx1151 --dry-run")


def lines(played: Played, words: str, columns: int) -> list[str]:
    wide = {**played.repository.environment, "COLUMNS": str(columns)} if columns else played.repository.environment
    answer = replace(played.repository, environment=wide).expctl(*shlex.split(words))
    assert answer.status == 0, f"{words}: {answer}"
    return answer.out.splitlines()


@pytest.mark.parametrize("columns", [80, 100, 160])
@pytest.mark.parametrize("words", READS, ids=[" ".join(words.split()[:3]) for words in READS])
def test_no_line_is_wider_than_the_terminal(words: str, columns: int, played: Played) -> None:
    shown = lines(played, words, columns)
    assert [line for line in shown if len(line) > columns] == []


@pytest.mark.parametrize("words", ["profile show trace.csv", "compare times.csv times.csv", "inspect long_name.s"])
def test_a_name_is_last_and_keeps_its_ends_until_there_is_room(words: str, played: Played) -> None:
    short, long = ("\n".join(lines(played, words, columns)) for columns in (80, 400))
    cut = next(line for line in short.splitlines() if "…" in line).split()[-1]
    first, last = cut.split("…")
    assert any(
        name.startswith(first) and (name.endswith(last) or last in NAME)
        for name in (NAME, f"_Z{len(NAME)}{NAME}Pf", f"{NAME}_b")
    )
    assert NAME in long


def test_columns_that_have_no_room_are_named(played: Played) -> None:
    shown = "\n".join(lines(played, "profile show trace.csv", 80))
    assert "no room for" in shown
    assert "no room for" not in "\n".join(lines(played, "profile show trace.csv", 300))


def test_a_pipe_gets_whole_lines(played: Played) -> None:
    assert any(TITLE in line for line in lines(played, "finding list", 0))
    assert not any(TITLE in line for line in lines(played, "finding list", 80))


def test_the_width_is_that_of_the_terminal(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    ioctl(theirs, TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
    words = [sys.executable, "-m", "expctl", "occupancy", "--vgpr", "256", "--lds", "17408", "--workgroup", "128"]
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    subprocess.run(words, stdout=theirs, cwd=tmp_path, env=environment, check=True)
    os.close(theirs)
    said = os.read(ours, 10_000).decode().splitlines()
    os.close(ours)
    assert 50 < max(map(len, said)) <= 60
