"""The outcome of a replay, and how a committed file differs from what is computed again."""

import json
from dataclasses import dataclass
from typing import Any

from expctl.domain.errors import CommitNotHere, NewerFile, Refused
from expctl.domain.text import one_line


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The recomputed verdict of a record (`number` 0) or its n-th replication. `differs`: the record says another; `rule`:
    the version of the decision rule, "" if nothing could be decided; `text`: the outcome in words; `mend`: what makes
    it possible, if the record is sound.
    """

    id: str
    number: int
    rule: str
    differs: bool
    text: str
    mend: str = ""


def mend_of(refusal: Refused) -> str:
    """Return the advice of the refusal that ended a replay, if nothing is damaged; else ""."""
    return refusal.hint if isinstance(refusal, NewerFile | CommitNotHere) else ""


def first_difference(recorded: Any, computed: Any, path: str = "") -> str:
    """Name the first field (below `path`) that differs in two JSON values, and both values; an absent one is shown as None."""
    if isinstance(recorded, list) and isinstance(computed, list):
        recorded, computed = dict(enumerate(recorded)), dict(enumerate(computed))
    if isinstance(recorded, dict) and isinstance(computed, dict):
        for key in {**recorded, **computed}:
            before, after = recorded.get(key), computed.get(key)
            if json.dumps(before) != json.dumps(after):
                return first_difference(before, after, f"{path}.{key}".removeprefix("."))
        return "every field is the same, only the layout of the JSON differs"
    return f"{path}: recorded {one_line(repr(recorded), 80)}, computed {one_line(repr(computed), 80)}"
