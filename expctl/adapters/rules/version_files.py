"""Read the files of a version of the sources: those of a commit, with a patch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from expctl.domain.patch.unified_diff import parse_diff, texts_of

if TYPE_CHECKING:
    from expctl.adapters.git.reader import GitReader
    from expctl.domain.rules.meaning import Version


def version_files(git: GitReader, version: Version, folders: Sequence[str]) -> Mapping[str, bytes] | None:
    """Return path -> contents of the files below `folders`. None if the patch doesn't fit them."""
    blobs = {path: blob for folder in folders for path, blob in git.list_files(version.commit, folder).items()}
    texts = git.read_blobs(blobs.values())
    files = {path: texts[blob] for path, blob in blobs.items() if blob in texts}
    diffs = parse_diff(version.patch)
    contents = {each.old: files[each.old].decode(errors="surrogateescape") for each in diffs if each.old in files}
    for diff, made in zip(diffs, texts_of(diffs, contents), strict=True):
        if not made.whole or (diff.old and diff.old not in files):
            return None
        if diff.old and diff.old != diff.new:
            del files[diff.old]
        if diff.new:
            files[diff.new] = made.after.encode(errors="surrogateescape")
    return files
