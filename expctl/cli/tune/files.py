"""`expctl tune import` and `expctl tune export`: tables in the older, flat form become tables of today's, and back."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from expctl.domain.errors import Refused

PLAIN = re.compile(r"[A-Za-z0-9_]+-[A-Za-z0-9][A-Za-z0-9_-]*?(-(B=[0-9]+-)?N=[0-9]+-K=[0-9]+)?\.json")


def import_files(source: Path, out: Path, made_with: Mapping[str, str]) -> list[Path]:
    """Convert the flat files of the folder `source` to folders below `out`; return the files written. Raises Refused, with
    nothing written, if a file is malformed.
    """
    from expctl.tables.flat_form import imported
    from expctl.tables.table import BadTable

    try:
        files = _read(source)
        if not files:
            raise BadTable(f"{source}: expected files such as gfx950-GEMM-A8W8.json, found none")
        _check_names(files)
        return _written(out, imported(files, made_with))
    except ValueError as error:
        raise refused(error) from error


def export_files(folder: Path, out: Path) -> list[Path]:
    """Write the tables of `folder`, <arch>/hip/gemm/<operation>, in the flat form into `out`. Raises Refused."""
    from expctl.tables.flat_form import PLACE, exported
    from expctl.tables.folder import read_folder
    from expctl.tables.table import BadTable

    try:
        tables = read_folder(folder.resolve())
        if not tables.tables:
            raise BadTable(f"{folder}: expected a folder with DEFAULT.json, found none")
        *_, arch, kind, what, operation = ["", "", "", *folder.resolve().parts]
        if f"{kind}/{what}" != PLACE:
            raise BadTable(f"{folder}: expected a path that ends in <arch>/{PLACE}/{operation}, found {folder.resolve()}")
        return _written(out, exported(arch, operation, _read(folder)))
    except ValueError as error:
        raise refused(error) from error


def _check_names(names: Iterable[str]) -> None:
    """Raise BadTable for an operation that is no plain name, as `..` isn't, and for two files that would become one table."""
    from expctl.tables.table import BadTable

    known: dict[str, str] = {}
    for name in names:
        if not PLAIN.fullmatch(name):
            raise BadTable(
                f"{name}: expected a name such as gfx950-GEMM-A8W8.json or gfx950-GEMM-A8W8-N=128-K=512.json, found it"
            )
        twin = known.setdefault(name.lower().replace("-", "_"), name)
        if twin != name:
            raise BadTable(f"{name}: expected one file for each table, found {twin} too, which differs in case, - or _ alone")


def _read(folder: Path) -> dict[str, bytes]:
    """Return the JSON files of a folder by name. Raises BadTable for one that can't be read."""
    from expctl.tables.table import BadTable

    try:
        return {each.name: each.read_bytes() for each in sorted(folder.glob("*.json"))}
    except OSError as error:
        raise BadTable(f"{error.filename}: expected a file that can be read, found {error.strerror}") from error


def refused(error: Exception) -> Refused:
    """Return the one error of a malformed table."""
    from expctl.domain.errors import Refused
    from expctl.domain.text import one_line

    where, sign, rest = str(error).partition(": expected ")
    expected, _, found = rest.partition(", found ") if sign else ("numbers that can be read", "", where)
    return Refused(
        "a table of configs is malformed",
        code="table-malformed",
        expected=one_line(expected),
        found=one_line(found),
        where=one_line(where) if sign else "",
        hint="docs/TUNE.md of expctl describes the format; correct the file, then run the same command again",
    )


def _written(out: Path, files: Mapping[str, bytes]) -> list[Path]:
    from expctl.cli.output import write_file

    for name, raw in files.items():
        write_file(out / name, raw)
    return [out / name for name in files]
