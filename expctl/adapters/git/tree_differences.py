"""Find what differs between two git trees, from their objects: without a process for each pair."""

from collections.abc import Iterator

from expctl.adapters.git.known_objects import FOLDER, Entry, Tree
from expctl.adapters.git.objects import GitObjects, lost_object

Difference = tuple[str, Entry | None, Entry | None]
"""A path, and what the old and the new tree have there (None: nothing); no folders."""


def differences(git: GitObjects, old: str, new: str) -> list[Difference]:
    """Return the files that differ between two commits or trees, ids in full, in git's order. Raises Refused if git has lost a
    folder of one of them.
    """
    found = _below(git, "", _tree(git, f"{old}:"), _tree(git, f"{new}:"))
    return sorted(found, key=lambda each: each[0].encode(errors="surrogateescape"))


def _below(git: GitObjects, folder: str, old: Tree, new: Tree) -> Iterator[Difference]:
    for name in old.keys() | new.keys():
        sides = [tree.get(name) for tree in (old, new)]
        if sides[0] == sides[1]:
            continue
        path = f"{folder}{name.decode(errors='surrogateescape')}"
        files = [None if side is None or side.mode == FOLDER else side for side in sides]
        folders = [_tree(git, side.id.hex()) if side is not None and side.mode == FOLDER else {} for side in sides]
        if files != [None, None]:
            yield path, files[0], files[1]
        yield from _below(git, f"{path}/", folders[0], folders[1])


def _tree(git: GitObjects, name: str) -> Tree:
    tree = git.tree(name)
    if tree is None:
        raise lost_object(name, str(git.where))
    return tree
