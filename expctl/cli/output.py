"""Facts as JSON, the same for every command."""

import json
import sys
from collections.abc import Sequence

from expctl.adapters.typed import encode
from expctl.domain.text import is_unseen


def print_json(value: object) -> None:
    """One document on standard output. What can't be seen is escaped: a terminal may be reading."""
    text = json.dumps(encode(value), indent=1, ensure_ascii=False)
    if not text.isascii():
        text = "".join(json.dumps(each)[1:-1] if is_unseen(each) and each != "\n" else each for each in text)
    sys.stdout.write(text + "\n")


def print_lines(lines: Sequence[str]) -> None:
    """Plain lines on standard output."""
    sys.stdout.write("\n".join(lines) + "\n")
