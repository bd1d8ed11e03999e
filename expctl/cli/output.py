"""Write a command's result to standard output, as JSON or as lines of text."""

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from typing import TextIO

from expctl.domain.errors import Refused
from expctl.domain.text import is_unseen


def print_json(value: object) -> None:
    """Print `value` (data classes, lists, dicts, ...) as JSON. Invisible characters are escaped, because a terminal may obey
    them.
    """
    import json

    from expctl.adapters.codec.decode import encode

    narrow = str(sys.stdout.encoding).lower() not in ("utf-8", "utf8")
    text = json.dumps(encode(value), indent=1, ensure_ascii=narrow)
    if not text.isascii():
        text = "".join(json.dumps(each)[1:-1] if is_unseen(each) and each != "\n" else each for each in text)
    _write(text)


def print_lines(lines: Sequence[str]) -> None:
    """Print `lines` to standard output; on a terminal they are folded to its width."""
    _write("\n".join(fitted(lines, sys.stdout)))


def fitted(lines: Sequence[str], stream: TextIO, label: int = 13) -> Sequence[str]:
    """Return `lines`, folded to its width if `stream` is a terminal; `label` columns stand before the text of a line."""
    if not stream.isatty():
        return lines
    from expctl.views.fold import folded

    width = shutil.get_terminal_size().columns
    return [part for line in lines for part in folded(line, width, label)]


def print_result(facts: object, lines: Callable[[], Sequence[str]], as_json: bool) -> None:
    """Print a command's result: the object `facts` as JSON if `as_json`, else the text that `lines` returns."""
    if as_json:
        print_json(facts)
    else:
        print_lines(lines())


def _write(text: str) -> None:
    try:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the interpreter flushes again on exit
        raise Refused(
            "cannot write standard output",
            code="output-not-writable",
            found=str(error.strerror),
            hint="free space on that disk, or send the output elsewhere",
        ) from error
