"""What a person sees while an experiment runs: screens of a tmux session, as text, at 80 and at 160 columns.

    python -m benchmarks.terminal.captures docs/terminal

Captured are the first screens during a gate wait (another program is busy for some seconds), a build, a search and a
confirmation. Fails if one of them doesn't appear, or if a line wraps.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.terminal.project import EXPCTL, Project, dot_of

MOMENTS = {
    "gate-wait": re.compile(r"^  waiting \d+ of \d+ s.*: .* %", re.MULTILINE),
    "build": re.compile(r"^  build +\w+, (baseline|candidate) *(\d:\d\d)?$", re.MULTILINE),
    "search": re.compile(r"^  search +round .* % .* left", re.MULTILINE),
    "confirmation": re.compile(r"^  confirm +round .* % .* left", re.MULTILINE),
}
IDEAS = ((3, 4), (6, 8), (5, 8), (2, 3)) * 2
"""Running sums before and after. A next one is tried if there was no confirmation, or one without an estimate."""
BUSY_S, LOOKS_EVERY_S, LINES, AT_MOST_S = 12, 0.1, 24, 300.0


class Tmux:
    """A tmux session of its own server with `columns` columns, in which `command` runs in `folder`."""

    def __init__(self, columns: int, folder: Path, command: str, environment: dict[str, str]) -> None:
        self._name = f"captures-{columns}"
        where = ("-x", str(columns), "-y", str(LINES), "-c", str(folder))
        self._tmux("new-session", "-d", "-s", "main", *where, command, environment=environment)

    def screen(self, *options: str) -> str:
        """Return what the window shows now; "" once the command has ended."""
        return self._tmux("capture-pane", "-p", "-t", "main", *options)

    def end(self) -> None:
        """End the session."""
        self._tmux("kill-server")

    def _tmux(self, *words: str, environment: dict[str, str] | None = None) -> str:
        argv = ("tmux", "-L", self._name, "-f", "/dev/null", *words)
        return subprocess.run(argv, env=environment, capture_output=True, text=True, check=False).stdout


def captured(project: Project, experiment: str, columns: int) -> dict[str, str]:
    """Return the screens of `MOMENTS` while `experiment` runs in a terminal of `columns`; RuntimeError if a line wraps."""
    command = shlex.join((*EXPCTL, "run", experiment))
    tmux, found = Tmux(columns, project.root, command, project.environment), dict[str, str]()
    spin = (sys.executable, "-c", f"import time; end = time.time() + {BUSY_S}\nwhile time.time() < end: pass")
    busy = [subprocess.Popen(spin) for _ in range(os.cpu_count() or 1)]
    deadline = time.monotonic() + AT_MOST_S
    try:
        while (screen := tmux.screen()) and len(found) < len(MOMENTS) and time.monotonic() < deadline:
            if tmux.screen("-J").rstrip() != tmux.screen().rstrip() and tmux.screen() == screen:
                raise RuntimeError(f"a line wraps at {columns} columns:\n{screen}")
            found |= {name: screen for name, words in MOMENTS.items() if name not in found and words.search(screen)}
            time.sleep(LOOKS_EVERY_S)
    finally:
        tmux.end()
        for each in busy:
            each.kill()
            each.wait()
    return found


def main(words: Sequence[str]) -> int:
    """Write the captures of both widths below a folder. Returns 1 if one of them is missing."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=Path)
    asked = options.parse_args(words)
    asked.folder.mkdir(parents=True, exist_ok=True)
    missing = []
    for columns in (80, 160):
        found: dict[str, str] = {}
        for before, after in IDEAS:
            if len(found) < len(MOMENTS):
                with tempfile.TemporaryDirectory() as folder:
                    project = Project(Path(folder, "dot"), dot_of(range(before)))
                    project.propose(dot_of(range(after)), f"{after} sums instead of {before}")
                    found = captured(project, "P1", columns) | found
        for name, screen in found.items():
            lines = [line.rstrip() for line in screen.rstrip().splitlines()]
            (asked.folder / f"{columns}-{name}.txt").write_text("\n".join(lines) + "\n")
        missing += [f"{columns}-{name}" for name in MOMENTS if name not in found]
    print(f"missing: {', '.join(missing)}" if missing else f"8 screens below {asked.folder}")
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
