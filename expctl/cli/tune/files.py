"""`expctl tune import` and `expctl tune export`: tables in the older, flat form become tables of today's, and back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from expctl.domain.errors import Refused


def import_files(source: Path, out: Path, made_with: Mapping[str, str]) -> list[Path]:
    """Convert the flat files of the folder `source` to folders below `out`; return the files written. Raises Refused, with
    nothing written, if a file is malformed.
    """
    from expctl.tables.flat_form import imported
    from expctl.tables.table import BadTable

    files = {each.name: each.read_bytes() for each in sorted(source.glob("*.json"))}
    if not files:
        raise refused(BadTable(f"{source}: expected files such as gfx950-GEMM-A8W8.json, found none"))
    try:
        return _written(out, imported(files, made_with))
    except ValueError as error:
        raise refused(error) from error


def export_files(folder: Path, out: Path) -> list[Path]:
    """Write the tables of `folder`, <arch>/hip/gemm/<operation>, in the flat form into `out`. Raises Refused."""
    from expctl.tables.flat_form import exported
    from expctl.tables.folder import read_folder
    from expctl.tables.table import BadTable

    try:
        tables = read_folder(folder.resolve())
        if not tables.tables:
            raise BadTable(f"{folder}: expected a folder with DEFAULT.json, found none")
        files = {each.name: each.read_bytes() for each in sorted(folder.glob("*.json"))}
        return _written(out, exported(folder.resolve().parts[-4], tables.operation, files))
    except (ValueError, IndexError) as error:
        raise refused(error) from error


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
