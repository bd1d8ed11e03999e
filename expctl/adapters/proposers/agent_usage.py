"""What a call of a coding agent has cost, as the agent reports it: in usage.json, else in JSON on its standard output.

Known are the keys of Claude Code (`--output-format json`), Codex (`exec --json`) and Gemini CLI (`--output-format json`), and
any other that calls them `tokens` and `money`. What isn't said counts as 0: a budget of what nobody reports never ends.
"""

import json
import math
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from expctl.domain.brief.task import USAGE_FILE
from expctl.domain.queue.night import Usage

BYTES_MAX = 1 << 16
LOG_TAIL = 1 << 20
MOST = 1e12
_MONEY = ("money", "total_cost_usd", "cost_usd")
_TOTALS = ("tokens", "total_tokens")
_PARTS = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def usage_of(scratch: Path, log: Path) -> Usage:
    """Return the usage in `scratch`/usage.json if that can be read, else the last one in the log's lines of JSON."""
    said = _parsed(_tail(scratch / USAGE_FILE, BYTES_MAX))
    if isinstance(said, dict) and (found := _usage(said)) is not None:
        return found
    text = _tail(log, LOG_TAIL)
    whole = _parsed(text)
    every = [whole] if isinstance(whole, dict) else [_parsed(line) for line in text.splitlines() if line.startswith("{")]
    for each in reversed(every):
        if isinstance(each, dict) and (found := _usage(each)) is not None:
            return found
    return Usage()


def _usage(said: Mapping[str, Any]) -> Usage | None:
    found = list(_objects(said))
    money = next((number for each in found for key in _MONEY if (number := _number(each.get(key))) is not None), None)
    tokens = next((number for each in found for key in _TOTALS if (number := _number(each.get(key))) is not None), None)
    if tokens is None:
        parts = next(([_number(each.get(key)) or 0 for key in _PARTS] for each in found if _PARTS[1] in each), None)
        tokens = sum(parts) if parts is not None else None
    if money is None and tokens is None:
        return None
    return Usage(tokens=int(tokens or 0), money=round(money or 0.0, 6))


def _objects(said: Mapping[str, Any], depth: int = 4) -> Iterator[Mapping[str, Any]]:
    yield said
    if depth:
        for each in said.values():
            if isinstance(each, dict):
                yield from _objects(each, depth - 1)


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value) if 0 <= value <= MOST else None


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _tail(file: Path, most: int) -> str:
    # What an agent left may be a link, or a pipe on which a plain `open` waits for ever.
    try:
        with open(os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as opened:
            facts = os.fstat(opened.fileno())
            if not stat.S_ISREG(facts.st_mode):
                return ""
            opened.seek(max(0, facts.st_size - most))
            return opened.read(most).decode(errors="replace")
    except OSError:
        return ""
