"""One entry of the difference between two trees."""

from __future__ import annotations

from expctl.domain.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """One entry of the difference between two trees. `mode` is git's new mode, 000000 for a deletion."""

    path: str
    mode: str
    size: int
