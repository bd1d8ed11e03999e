"""`profile show` has colours on a terminal that shows them, and the same words everywhere."""

import os
import re
from pathlib import Path

import pytest

from expctl.profiles.views.paint import painted
from tests.e2e.foreign import EXPCTL
from tests.e2e.terminal.screen import Terminal

TRACE = """Kernel_Name,Start_Timestamp,End_Timestamp,Grid_Size_X,LDS_Block_Size
matmul_kernel,1,9000,8192,512
cast,9500,9900,64,0
"""
COLOUR = re.compile(rb"\x1b\[[0-9;]*m")


def shown(folder: Path, **variables: str) -> bytes:
    (folder / "trace.csv").write_text(TRACE)
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8", **variables}
    with Terminal([str(EXPCTL), "profile", "show", "trace.csv"], cwd=folder, environment=environment, columns=120) as terminal:
        assert terminal.end() == 0
        return terminal.raw


def test_headings_classes_and_notes_are_told_apart(tmp_path: Path) -> None:
    raw = shown(tmp_path)
    assert re.search(rb"\x1b\[1m  class  .*\x1b\[0m", raw)
    assert b"\x1b[34mGEMM\x1b[0m" in raw
    assert b"\x1b[33mcopy\x1b[0m" in raw
    assert b"\x1b[2m  note  " in raw


def test_the_words_are_the_same_without_colours(tmp_path: Path) -> None:
    plain = shown(tmp_path, NO_COLOR="1")
    assert not COLOUR.search(plain)
    assert COLOUR.sub(b"", shown(tmp_path)) == plain


@pytest.mark.parametrize("line", ["  GEMM", "GEMM  x", "  a_GEMM_b  ", "  kernel  GEMMs  "])
def test_a_word_within_a_name_is_no_class(line: str) -> None:
    assert painted(line) == line
