"""Facts as JSON, the same for every command."""

import json
import sys
from collections.abc import Sequence

from expctl.adapters.typed import encode


def print_json(value: object) -> None:
    """One document on standard output."""
    json.dump(encode(value), sys.stdout, indent=1, ensure_ascii=False)
    sys.stdout.write("\n")


def print_lines(lines: Sequence[str]) -> None:
    """Plain lines on standard output."""
    sys.stdout.write("\n".join(lines) + "\n")
