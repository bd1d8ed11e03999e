"""Record a command as a person sees it in a terminal, as an SVG picture: it runs in a pseudo-terminal, with its colours.

    python -m benchmarks.terminal.record docs/pictures/status.svg --columns 100 -- expctl status

Of a line that was written over (a progress bar), the last state is shown. The command's exit status is that of the script.
"""

import argparse
import fcntl
import io
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import termios
from collections.abc import Sequence
from pathlib import Path

from rich.ansi import AnsiDecoder
from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI

LINES = 40
FONTS = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
"""What loads fonts from the net in a picture by rich; without it, a viewer takes its own monospaced one."""


def typed(argv: Sequence[str], columns: int, folder: Path) -> tuple[str, int]:
    """Return all that the command writes to a terminal of `columns` columns, and its exit status."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, columns, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(columns)}
    child = subprocess.Popen(argv, stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder, env=environment)
    os.close(theirs)
    written = b""
    while piece := _read(ours):
        written += piece
    os.close(ours)
    return written.decode(errors="replace").replace("\r\n", "\n"), child.wait()


def _read(descriptor: int) -> bytes:
    """The next bytes; none at the end, which Linux tells by an error once the terminal has no writer."""
    try:
        return os.read(descriptor, 65536)
    except OSError:
        return b""


def picture(argv: Sequence[str], text: str, columns: int) -> str:
    """Return an SVG of the command line and of what it wrote. Equal text gives equal bytes."""
    console = Console(record=True, width=columns, file=io.StringIO(), color_system="truecolor", force_terminal=True)
    line = shlex.join(argv)
    console.print(f"[bold]$[/bold] {line}", highlight=False)
    for each in AnsiDecoder().decode(text):
        for row in each.divide(range(columns, len(each), columns)):  # a terminal breaks lines within words
            console.print(row, highlight=False)
    return FONTS.sub("", console.export_svg(title=line, theme=DIMMED_MONOKAI, unique_id="terminal"))


def main(words: Sequence[str]) -> int:
    """Run the command that follows `--` and write its picture. Returns the command's exit status."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("picture", type=Path, help="the SVG file to write")
    options.add_argument("--columns", type=int, default=100)
    options.add_argument("--folder", type=Path, default=Path(), help="where the command runs")
    options.add_argument("command", nargs="+", help="after --: the command and its words")
    asked = options.parse_args(words)
    text, status = typed(asked.command, asked.columns, asked.folder)
    asked.picture.write_text(picture(asked.command, text, asked.columns), "utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
