"""Describes one file that a patch changes."""

from __future__ import annotations

from msgspec import Struct


class ChangedFile(Struct, frozen=True, kw_only=True):
    """A file that differs between two trees. `mode` is git's new mode, 000000 for a deletion."""

    path: str
    mode: str
    size: int
