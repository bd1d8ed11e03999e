"""One entry of the difference between two trees."""

from __future__ import annotations

from msgspec import Struct


class ChangedFile(Struct, frozen=True, kw_only=True):
    """One entry of the difference between two trees. `mode` is git's new mode, 000000 for a deletion."""

    path: str
    mode: str
    size: int
