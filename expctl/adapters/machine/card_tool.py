"""Asks the tool of a GPU's maker about settings of the cards; one that is absent, fails or hangs says nothing."""

import json
import shutil
from collections.abc import Mapping
from typing import Any

from expctl.launcher.captured import Timeout, captured

ANSWERS_S = 10.0


def answer(*argv: str) -> str:
    """Return the output of the command `argv`; "" if it isn't on PATH, fails, or takes over 10 s."""
    if shutil.which(argv[0]) is None:
        return ""
    try:
        said = captured(argv, timeout_s=ANSWERS_S)
    except (OSError, Timeout):
        return ""
    return said.out if said.status == 0 else ""


def json_answer(*argv: str) -> Any:
    """Return the JSON that the command `argv` prints; None if it prints none."""
    try:
        return json.loads(answer(*argv))
    except ValueError:
        return None


def at(node: Any, *path: str) -> Any:
    """Return what lies under `path` in decoded JSON; None where a key is missing or says N/A."""
    for key in path:
        node = node.get(key) if isinstance(node, Mapping) else None
    return None if node == "N/A" else node


def number(word: Any) -> float | None:
    """Return the number that `word` is or writes; None for anything else, such as N/A."""
    try:
        return float(word)
    except (TypeError, ValueError):
        return None
