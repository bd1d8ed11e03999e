"""Assembles the tables that a tuning proposes: only buckets that a verdict changed differ from those that were there.

A family is a pair of N and K. A new special file starts as a copy of the default, so that it changes what was won and no more.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from expctl.domain.tuning.contest import Bucket
from expctl.tables.folder import DEFAULT, Family, Folder, special_name
from expctl.tables.operations import Settings
from expctl.tables.table import Table, in_order

SHAPE = re.compile("x".join(["([1-9][0-9]{0,8})"] * 3))
Winners = Mapping[tuple[str, str], Settings]
"""The config that won a bucket, by file and bucket."""


def extents(shape: str) -> tuple[int, int, int]:
    """Return M, N and K of a shape such as 64x512x128. Raises ValueError."""
    found = SHAPE.fullmatch(shape)
    if found is None:
        raise ValueError(f"the shape {shape!r}")
    m, n, k = map(int, found.groups())
    return m, n, k


def started(folder: Folder, shapes: Sequence[str], made_with: Mapping[str, str]) -> Folder:
    """Return `folder`; where it has no table, one whose default leaves each M of the list, as a bucket, to the build."""
    if folder.tables:
        return folder
    names = in_order(list({f"M_LEQ_{extents(shape)[0]}": None for shape in shapes}))
    return Folder(folder.operation, {DEFAULT: Table(dict.fromkeys(names), made_with)})


def buckets_by_family(folder: Folder, shapes: Sequence[str]) -> list[Bucket]:
    """Return the buckets that a special file of each family would have, with the shapes of the list in them."""
    found: dict[tuple[str, str], list[str]] = {}
    for shape in shapes:
        m, n, k = extents(shape)
        choice, family = folder.look_up(m, n, k), Family(n, k)
        file = choice.file if choice.file != DEFAULT else special_name(folder.operation, family)
        found.setdefault((file, choice.bucket), []).append(shape)
    return [Bucket(file=file, name=name, shapes=tuple(each)) for (file, name), each in found.items()]


def buckets_of_default(folder: Folder, shapes: Sequence[str]) -> list[Bucket]:
    """Return the buckets of DEFAULT.json, each with the shapes of all families that are looked up there."""
    found: dict[str, list[str]] = {}
    for shape in shapes:
        choice = folder.look_up(*extents(shape))
        if choice.file == DEFAULT:
            found.setdefault(choice.bucket, []).append(shape)
    return [Bucket(file=DEFAULT, name=name, shapes=tuple(each)) for name, each in found.items()]


def assembled(folder: Folder, winners: Winners) -> Folder:
    """Return `folder` with the winners in their buckets; all other buckets and files are as they were."""
    tables = dict(folder.tables)
    for (file, bucket), settings in winners.items():
        table = tables.get(file) or tables[DEFAULT]
        tables[file] = replace(table, buckets={**table.buckets, bucket: settings})
    return Folder(folder.operation, dict(sorted(tables.items())))


def changed(before: Folder, after: Folder, shapes: Sequence[str]) -> dict[str, str]:
    """Return the shapes of the list that get another config, and that config (1,8,2,2,8,2)."""
    found = {}
    for shape in shapes:
        old, new = before.look_up(*extents(shape)), after.look_up(*extents(shape))
        if old.settings != new.settings:
            found[shape] = new.config
    return found


def files_of(before: Folder, after: Folder) -> dict[str, bytes]:
    """Return the contents of the files that differ, by name."""
    return {name: table.text().encode() for name, table in after.tables.items() if before.tables.get(name) != table}
