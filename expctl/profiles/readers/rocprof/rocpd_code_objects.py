"""Tell which kernels lie in one code object, from the symbols that a rocpd database lists."""

from collections import defaultdict
from pathlib import Path
from typing import Any

from expctl.profiles.readers.rocprof.rocpd_tables import Tables
from expctl.profiles.readers.sqlite_file import open_database, tables

SYMBOLS = "rocpd_info_kernel_symbol"


def names_beside(path: Path, kernel: str) -> tuple[str, ...]:
    """Return the names of all kernels in the code objects that hold `kernel`, its own among them; () if none is known to.

    Raises Refused for a file that is no database.
    """
    objects: defaultdict[tuple[str, Any], set[str]] = defaultdict(set)
    with open_database(path) as database:
        suffixes = [name.removeprefix(SYMBOLS) for name in tables(database) if name.startswith(SYMBOLS)]
        for suffix in suffixes:
            for row in Tables(database=database, path=path, suffix=suffix).rows("info_kernel_symbol"):
                name = str(row.get("display_name") or row.get("kernel_name"))
                objects[suffix, row.get("code_object_id")].add(name)
    return tuple(sorted({name for names in objects.values() if kernel in names for name in names}))
