"""Read the files of a version of the sources: those of a commit, with a patch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from expctl.domain.patch.unified_diff import parse_diff, texts_of

if TYPE_CHECKING:
    from expctl.adapters.git.reader import GitReader
    from expctl.domain.protocol.model import Protocol
    from expctl.domain.rules.meaning import Version


def source_folders(protocol: Protocol, *targets: str) -> tuple[str, ...]:
    """Return the folders with the files that `targets` (none: all) are compiled from: what a patch may touch, and the folders
    of their sources.
    """
    sources = (protocol.targets[name].build.source for name in targets or protocol.targets)
    return tuple(dict.fromkeys((*protocol.scope, *(str(PurePosixPath(each).parent) for each in sources if each))))


def changes_below(folders: Sequence[str], patch: bytes) -> bool:
    """Does a patch change a file below one of `folders`?"""
    return any(_is_below(path, folders) for each in parse_diff(patch) for path in (each.old, each.new))


def version_files(git: GitReader, version: Version, folders: Sequence[str]) -> Mapping[str, bytes] | None:
    """Return path -> contents of the files below `folders`. None if the patch doesn't fit them."""
    changes = changed_files(git, version, folders)
    if changes is None:
        return None
    blobs = {path: blob for folder in folders for path, blob in git.list_files(version.commit, folder).items()}
    texts = git.read_blobs(blobs.values())
    files = {path: texts[blob] for path, blob in blobs.items() if blob in texts and path not in changes}
    return files | {path: contents for path, contents in changes.items() if contents is not None}


def changed_files(git: GitReader, version: Version, folders: Sequence[str]) -> Mapping[str, bytes | None] | None:
    """Return path -> new contents (None: gone) of the files below `folders` that the patches of a version change. None if they
    don't fit them, or change the same lines.
    """
    made = _changed(git, version.commit, version.patch, folders)
    beside = _changed(git, version.commit, version.beside, folders) if version.beside else {}
    if made is None or beside is None:
        return None
    twice = {path: f"{version.commit}:{path}" for path in made if path in beside and made[path] != beside[path]}
    if not twice:
        return {**made, **beside}
    from expctl.domain.patch.both_changes import with_both

    old = git.read_blobs(twice.values())
    for path, name in twice.items():
        texts = (old.get(name), made[path], beside[path])
        decoded = [each.decode(errors="surrogateescape") for each in texts if each is not None]
        both = with_both(*decoded) if len(decoded) == len(texts) else None
        if both is None:
            return None
        beside = {**beside, path: both.encode(errors="surrogateescape")}
    return {**made, **beside}


def _changed(git: GitReader, commit: str, patch: bytes, folders: Sequence[str]) -> Mapping[str, bytes | None] | None:
    diffs = [each for each in parse_diff(patch) if _is_below(each.old, folders) or _is_below(each.new, folders)]
    names = {f"{commit}:{each.old}": each.old for each in diffs if each.old}
    old = {names[name]: text for name, text in git.read_blobs(names).items()} if names else {}
    files: dict[str, bytes | None] = {}
    for diff in diffs:
        held = files.get(diff.old, old.get(diff.old)) if diff.old else b""
        if held is None:
            return None
        (made,) = texts_of((diff,), {diff.old: held.decode(errors="surrogateescape")})
        if not made.whole:
            return None
        if diff.old and diff.old != diff.new:
            files[diff.old] = None
        if diff.new:
            files[diff.new] = made.after.encode(errors="surrogateescape")
    return {path: text for path, text in files.items() if _is_below(path, folders) and text != old.get(path)}


def _is_below(path: str, folders: Sequence[str]) -> bool:
    return bool(path) and any(folder in (".", path) or path.startswith(f"{folder.rstrip('/')}/") for folder in folders)
