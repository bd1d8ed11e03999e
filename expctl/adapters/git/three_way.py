"""Merge files of two git trees that come from a third; where both changed the same lines, with conflict markers."""

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from expctl.adapters.git.plumbing import GitPlumbing
from expctl.domain.patch.merge import Merged, Whose

NO_BLOB = "0" * 40
PLAIN = ("100644", "100755")
BASE, OURS, THEIRS = 1, Whose.OURS.value, Whose.THEIRS.value
Stages = Mapping[int, tuple[str, str]]
"""Stage -> mode and blob of one file in git's index; a version that doesn't exist is absent."""


class _Version(NamedTuple):
    mode: str
    blob: str
    is_whole: bool


def merge_into_index(
    git: GitPlumbing, env: Mapping[str, str], *, base: str, ours: str, theirs: str, name: str, whose: Callable[[str], Whose]
) -> Merged:
    """Merge the trees `ours` and `theirs` in the index that `env` names, which holds `ours`. `name` labels theirs in markers.

    `whose` says of a path that both changed whose version is taken.
    """
    git.must(["read-tree", "-i", "-m", "--aggressive", base, ours, theirs], env=env)
    found = {path: _version(git, stages, whose(path), name) for path, stages in _unmerged(git, env).items()}
    lines = "".join(f"0 {NO_BLOB}\t{path}\0{each.mode} {each.blob}\t{path}\0" for path, each in found.items())
    git.must(["update-index", "-z", "--index-info"], stdin=lines.encode(errors="surrogateescape"), env=env)
    conflicts = tuple(path for path, each in found.items() if not each.is_whole)
    return Merged(tree=git.must(["write-tree"], env=env), conflicts=conflicts)


def _unmerged(git: GitPlumbing, env: Mapping[str, str]) -> dict[str, dict[int, tuple[str, str]]]:
    found: dict[str, dict[int, tuple[str, str]]] = {}
    for line in git.must(["ls-files", "-u", "-z"], env=env).split("\0"):
        if line:
            head, path = line.split("\t", 1)
            mode, blob, stage = head.split()
            found.setdefault(path, {})[int(stage)] = (mode, blob)
    return found


def _version(git: GitPlumbing, stages: Stages, side: Whose, name: str) -> _Version:
    if side and side in stages:
        return _Version(*stages[side], is_whole=True)
    modes = [stages[each][0] for each in (OURS, THEIRS) if each in stages]
    if len(modes) < 2 or not set(modes) <= set(PLAIN):  # removed by one side, or a link
        return _Version(*(stages.get(OURS) or stages[THEIRS]), is_whole=False)
    merged, is_whole = _merged_lines(git, stages, name)
    mode = modes[1] if stages.get(BASE, ("", ""))[0] == modes[0] else modes[0]
    return _Version(mode, git.must(["hash-object", "-w", "--stdin"], stdin=merged), is_whole)


def _merged_lines(git: GitPlumbing, stages: Stages, name: str) -> tuple[bytes, bool]:
    """Return the merged contents, with markers where both sides changed the same lines, and whether there are none."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, str(stage)) for stage in (OURS, BASE, THEIRS)]
        for stage, file in zip((OURS, BASE, THEIRS), files, strict=True):
            file.write_bytes(git.call(["cat-file", "blob", stages[stage][1]])[1] if stage in stages else b"")
        labels = ["-L", "HEAD", "-L", "before", "-L", name]
        status, merged, _ = git.call(["merge-file", "-p", *labels, *map(str, files)])
        binary = status > 127
        return (files[0].read_bytes() if binary else merged), status == 0
