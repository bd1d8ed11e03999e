"""The outcome of a three-way merge of trees."""

from enum import IntEnum

from msgspec import Struct


class Whose(IntEnum):
    """Whose version of a file that both sides changed a merge takes: by its lines, or as a whole from one side."""

    BOTH = 0
    OURS = 2
    THEIRS = 3


class Merged(Struct, frozen=True, kw_only=True):
    """The git tree of a merge. Of the files in `conflicts`, of which both sides changed the same lines, it has both versions
    between conflict markers; one side's, if the other removed the file or it has no lines.
    """

    tree: str
    conflicts: tuple[str, ...] = ()
