"""A folder of tables of one operation: DEFAULT.json, and special files for single pairs of N and K.

    <folder>/DEFAULT.json
    <folder>/SCALED_MM-A16W8-E5M2-N=512-K=128.json      the folder is named scaled_mm_a16w8_e5m2
    <folder>/SCALED_MM-A16W8-E5M2-B=4-N=512-K=128.json  for a batch of 4

A special file replaces the default whole. What is looked up there counts as tuned, but for `any`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from expctl.tables.operations import KNOWN, Operation, Settings, config_text
from expctl.tables.table import ANY, BadTable, StaleTable, Table, differences, parse

DEFAULT = "DEFAULT.json"
SHAPE = re.compile(r"(?P<op>.+?)-(?:B=(?P<b>[1-9]\d*)-)?N=(?P<n>[1-9]\d*)-K=(?P<k>[1-9]\d*)\.json")


class Family(NamedTuple):
    """The shapes that one special file holds: all M of a batch of `b`, N and K."""

    n: int
    k: int
    b: int = 1

    @property
    def name(self) -> str:
        """Return the end of the file's name, such as N=512-K=128."""
        return f"{f'B={self.b}-' if self.b != 1 else ''}N={self.n}-K={self.k}"


@dataclass(frozen=True, slots=True)
class Choice:
    """What a look-up found: the file and its bucket, the config (None: the build chooses), and whether that was tuned."""

    file: str
    bucket: str
    settings: Settings | None
    tuned: bool

    @property
    def config(self) -> str:
        """Return the config as a benchmark takes it; "" where the build chooses."""
        return "" if self.settings is None else config_text(self.settings)

    @property
    def place(self) -> str:
        """Return where the config stands, e.g. `DEFAULT.json, M_LEQ_64, not tuned`."""
        return f"{self.file}, {self.bucket}, {'tuned' if self.tuned else 'not tuned'}"


@dataclass(frozen=True, slots=True)
class Folder:
    """The tables of one operation, by file name. Empty: there is no table, and a look-up is a KeyError."""

    operation: str
    tables: Mapping[str, Table]

    def file_of(self, family: Family) -> str:
        """Return the name of the file that holds `family`: its special file if there is one, else DEFAULT.json."""
        return next((name for name in self.tables if family_of(name) == family), DEFAULT)

    def look_up(self, m: int, n: int, k: int, b: int = 1) -> Choice:
        """Return the config of a shape, and where it stands."""
        file = self.file_of(Family(n, k, b))
        bucket = self.tables[file].bucket_of(m)
        return Choice(file, bucket, self.tables[file].buckets[bucket], tuned=file != DEFAULT and bucket != ANY)

    def check_fresh(self, here: Mapping[str, str]) -> None:
        """Raise StaleTable if a table was made with something else than the facts known `here`, with all that differs."""
        found = [f"{file}, {each}" for file, table in self.tables.items() for each in differences(table, here)]
        if found:
            raise StaleTable("; ".join(found))


def special_name(operation: str, family: Family) -> str:
    """Return the name of the special file of `family`."""
    return f"{file_prefix(operation)}-{family.name}.json"


def file_prefix(operation: str) -> str:
    """Return how the files of an operation begin: SCALED_MM-A16W8-E5M2 for scaled_mm_a16w8_e5m2."""
    head, types = re.match(r"(.*?)((?:_[a-z]*\d\w*)?)$", operation).groups()  # type: ignore[union-attr]
    return (head + types.replace("_", "-")).upper()


def read_files(
    operation: str, files: Mapping[str, bytes], *, where: str = "", also: Callable[[Settings], str] | None = None
) -> Folder:
    """Read all files of a folder, by name. `also` says what else a config must be, "" if it is (e.g. part of a build).

    Raises BadTable for the first file that is none, so that a folder is taken whole or not at all.
    """
    settings = KNOWN.get(operation)
    if also is not None and settings is not None:
        own = settings.fault
        settings = Operation(settings.parameters, lambda each: own(each) or also(each))
    prefix = f"{where}/" if where else ""
    for name in files:
        _check_name(operation, name, prefix)
    families = [family_of(name) for name in files if name != DEFAULT]
    if len(set(families)) < len(families):
        raise BadTable(f"{where or operation}: expected one file for each N and K, found two in {', '.join(sorted(files))}")
    if files and DEFAULT not in files:
        raise BadTable(f"{where or operation}: expected {DEFAULT} beside the special files, found {', '.join(sorted(files))}")
    return Folder(operation, {name: parse(raw, prefix + name, settings) for name, raw in sorted(files.items())})


def read_folder(path: Path, *, also: Callable[[Settings], str] | None = None) -> Folder:
    """Read the tables of the folder `path`, whose name is that of the operation; an absent one has none. Raises BadTable."""
    try:
        files = {each.name: each.read_bytes() for each in path.iterdir()} if path.is_dir() else {}
    except OSError as error:
        raise BadTable(f"{path}: expected a folder of tables, found {error}") from error
    return read_files(path.name, files, where=str(path), also=also)


def family_of(name: str) -> Family | None:
    """Return the family of a special file by its name; None for another name."""
    found = SHAPE.fullmatch(name)
    return None if found is None else Family(int(found["n"]), int(found["k"]), int(found["b"] or 1))


def _check_name(operation: str, name: str, prefix: str) -> None:
    found, family = SHAPE.fullmatch(name), family_of(name)
    is_ours = found is not None and found["op"].lower().replace("-", "_") == operation
    if name != DEFAULT and not (is_ours and family is not None and name.endswith(f"-{family.name}.json")):
        expected = special_name(operation, Family(512, 128))
        raise BadTable(f"{prefix}{name}: expected {DEFAULT}, or a name of {operation} such as {expected}, found {name}")
