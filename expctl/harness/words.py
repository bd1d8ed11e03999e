"""The words that a harness is started with."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from expctl.harness.report import Fault

EPILOG = "expctl runs it with the build alone; a person reads a table. See docs/HARNESS.md."


class Words(argparse.ArgumentParser):
    """Raises Fault for words that it can't read."""

    def error(self, message: str) -> NoReturn:  # noqa: D102 - see ArgumentParser
        expected = f'`{self.prog} BUILD`, in protocol.yaml argv: ["{{python}}", {self.prog}, "{{artifact}}"]'
        raise Fault(f"expected {expected}, found other words: {message}")


def parse_words(argv: Sequence[str]) -> argparse.Namespace:
    """Parse the words of a script. Raises Fault."""
    parser = Words(description="Test, time or profile one build of a kernel.", epilog=EPILOG)
    parser.add_argument("artifact", type=Path, help="the build")
    parser.add_argument("--profile", action="store_true", help="call each size for a profiler, and report figures")
    parser.add_argument("--launches", type=int, default=2, help="draws of each size in a test (default: %(default)s)")
    parser.add_argument("--sizes", default="", help="names of the table, with commas (default: all)")
    parser.add_argument("--iterations", type=int, default=50, help="of the table (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the table (default: %(default)s)")
    return parser.parse_args(argv)
