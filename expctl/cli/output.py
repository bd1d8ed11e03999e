"""Facts as JSON, the same for every command."""

import sys
from collections.abc import Sequence


def print_json(value: object) -> None:
    """One document on standard output."""
    import json

    from expctl.adapters.typed import encode

    json.dump(encode(value), sys.stdout, indent=1, ensure_ascii=False)
    sys.stdout.write("\n")


def print_lines(lines: Sequence[str]) -> None:
    """Plain lines on standard output."""
    sys.stdout.write("\n".join(lines) + "\n")
