"""How often the class of a kernel is right, by names that a person labelled.

    python -m benchmarks.profiles.classes FILE...

A line of a file is `CLASS|MILLISECONDS|NAME`, with `-` for an unknown time and with commas between classes where the person
leaves a choice. Prints each wrong name, then the share of names and of time that are right.
"""

import argparse
import math
import sys
from pathlib import Path
from typing import NamedTuple

from expctl.profiles.assemble.classify import classify


class Labelled(NamedTuple):
    """One name: the class that a person gave it (or several), its time (0 if unknown), and the class by the rules."""

    wanted: str
    milliseconds: float
    name: str
    found: str

    @property
    def right(self) -> bool:
        """Do both agree?"""
        return self.found.lower() in self.wanted.lower().split(",")


def labelled(path: Path) -> list[Labelled]:
    """All names of a file; raises SystemExit for a line of another form."""
    rows = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        wanted, time, name = [*line.split("|", 2), "", ""][:3]
        if not name or not (time == "-" or time.replace(".", "", 1).isdigit()):
            raise SystemExit(f"{path}:{number}: not CLASS|MILLISECONDS|NAME but {line[:80]!r}")
        rows.append(Labelled(wanted, 0.0 if time == "-" else float(time), name, classify(name).value))
    return rows


def main() -> int:
    """Print what is wrong, and the shares."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", metavar="FILE", nargs="+", type=Path)
    rows = [row for file in parser.parse_args().files for row in labelled(file)]
    for row in rows:
        if not row.right:
            print(f"{row.wanted:>22} is said to be {row.found:<14}{row.milliseconds:>12g} ms  {row.name[:160]}")
    right = sum(row.right for row in rows)
    whole, good = (math.fsum(row.milliseconds for row in rows if row.right or every) for every in (True, False))
    time = f"{100 * good / whole:.2f} % of {whole:g} ms" if whole else "no times"
    print(f"right: {right} of {len(rows)} names, {100 * right / len(rows):.1f} %; {time}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
