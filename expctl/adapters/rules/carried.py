"""Carry a patch from the commit that it was made for to another one, by a three-way merge of each file that it changes.

The merge is of lines and in this process: no git, so no merge driver and no attribute of a repository has a say in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from expctl.adapters.rules.version_files import changed_files
from expctl.domain.patch.both_changes import with_both
from expctl.domain.patch.written_diff import difference
from expctl.domain.rules.meaning import Version

if TYPE_CHECKING:
    from expctl.adapters.git.reader import GitReader

EVERYWHERE = (".",)


def carried(git: GitReader, commit: str, base: str, patch: bytes) -> bytes | None:
    """Return the patch that changes `commit` as `patch` changes `base`. None where both changed the same lines, or one has a
    file that the other hasn't; where `commit` has all of it already; and where `base` isn't here, or `patch` doesn't fit it.
    """
    made = changed_files(git, Version(base, patch), EVERYWHERE) if base else None
    if not made:
        return None
    texts = git.read_blobs(f"{at}:{path}" for at in (base, commit) for path in made)
    merged: dict[str, bytes | None] = {}
    for path, wanted in made.items():
        before, now = texts.get(f"{base}:{path}"), texts.get(f"{commit}:{path}")
        after = wanted if before == now else _merged(before, now, wanted)
        if after is None and before != now:
            return None
        if after != now:
            merged[path] = after
    found = b"".join(difference(path, texts.get(f"{commit}:{path}"), after) for path, after in merged.items())
    # What can't be written as a patch of text, and read as one again, isn't carried.
    return found if merged and changed_files(git, Version(commit, found), EVERYWHERE) == merged else None


def _merged(before: bytes | None, one: bytes | None, other: bytes | None) -> bytes | None:
    if before is None or one is None or other is None:
        return None
    both = with_both(*(each.decode(errors="surrogateescape") for each in (before, one, other)))
    return both.encode(errors="surrogateescape") if both is not None else None
