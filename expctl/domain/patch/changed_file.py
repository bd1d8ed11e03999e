"""A file that a patch changes."""

from msgspec import Struct


class ChangedFile(Struct, frozen=True, kw_only=True):
    """A file that differs between two git trees. `mode` is its new git mode, e.g. 100644; 000000 if it was deleted."""

    path: str
    mode: str
    size: int
