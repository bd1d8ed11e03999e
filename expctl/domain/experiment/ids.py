"""Checks and sorts the ids of experiments, such as P15 or P6-A."""

import functools
import re
from collections.abc import Iterable

from expctl.domain.errors import Misused

ID_PATTERN = re.compile(r"P\d{1,9}[a-z]?(-[A-Z]\d{0,9}[a-z]?)?", re.ASCII)


def check_id(text: str) -> str:
    """Return `text` if it is an experiment id such as P15, P8b or P6-A. Raises Misused otherwise."""
    if not ID_PATTERN.fullmatch(text):
        raise Misused(
            "this is not an experiment id",
            code="not-an-experiment-id",
            expected="P and a number of at most 9 digits, then at most one small letter and one part like -A2: P15, P8b, P6-A",
            found=repr(text[:60]),
            hint="expctl status lists the experiments",
        )
    return text


@functools.cache  # ten thousand ids are sorted many times
def id_order(text: str) -> tuple[int, str]:
    """Return a sort key for an experiment id: by number, then by the rest, so that P2 < P6 < P6-A < P10."""
    if text[1:].isdecimal() and text[0] == "P":  # the usual form, and ids are sorted by the ten thousand
        return (int(text[1:]), text)
    digits = re.match(r"P(\d+)", text)
    return (int(digits[1]) if digits else 0, text)


def next_number(taken: Iterable[str]) -> int:
    """Return the smallest number above those of all ids in `taken`; 1 if there are none."""
    return 1 + max((int("".join(c for c in name[1:].split("-")[0] if c.isdigit()) or 0) for name in taken), default=0)
