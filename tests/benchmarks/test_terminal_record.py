"""The recorded picture holds what a command writes to a terminal of the asked width."""

import sys
from pathlib import Path

from benchmarks.terminal import record

SPEAKS = """
import os, sys
print("tty", sys.stdout.isatty(), "columns", os.get_terminal_size().columns)
print("step 1\\rstep 2")
print("\\033[31mred\\033[0m")
sys.exit(3)
"""


def test_a_terminal_is_recorded(tmp_path: Path) -> None:
    file = tmp_path / "said.svg"
    status = record.main([str(file), "--columns", "72", "--", sys.executable, "-c", SPEAKS])
    assert status == 3
    text = file.read_text("utf-8").replace("&#160;", " ")
    assert "tty True columns 72" in text
    assert "step 2" in text
    assert "step 1<" not in text
    assert "http" not in text.replace("http://www.w3.org", "").replace("https://www.textualize.io", "")


def test_colours_reach_the_picture() -> None:
    plain, red = (record.picture(["say"], words, 40) for words in ("word", "\033[31mword"))
    assert plain == record.picture(["say"], "word", 40)
    assert plain != red
