"""Standard output: facts as JSON or lines, the same for every command."""

import os
import sys
from collections.abc import Sequence

from expctl.domain.errors import Refused
from expctl.domain.text import is_unseen


def print_json(value: object) -> None:
    """One document on standard output. What can't be seen is escaped: a terminal may be reading."""
    import json

    from expctl.adapters.codec.decode import encode

    narrow = str(sys.stdout.encoding).lower() not in ("utf-8", "utf8")
    text = json.dumps(encode(value), indent=1, ensure_ascii=narrow)
    if not text.isascii():
        text = "".join(json.dumps(each)[1:-1] if is_unseen(each) and each != "\n" else each for each in text)
    _write(text)


def print_lines(lines: Sequence[str]) -> None:
    """Plain lines on standard output."""
    _write("\n".join(lines))


def _write(text: str) -> None:
    """All of it. Raises BrokenPipeError where nobody reads, Refused where it doesn't fit."""
    try:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else the rest is tried again on the way out
        raise Refused(
            "cannot write standard output",
            code="output-not-writable",
            found=str(error.strerror),
            hint="make room, or redirect it",
        ) from error
