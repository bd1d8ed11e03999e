"""The older, flat form of tables: all in one folder, without what they were made with.

gfx950-BATCHED_GEMM-A16WFP4.json                  becomes  gfx950/hip/gemm/batched_gemm_a16wfp4/DEFAULT.json
gfx950-BATCHED_GEMM-A16WFP4-N=128-K=512.json      becomes  .../BATCHED_GEMM-A16WFP4-N=128-K=512.json
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from expctl.tables.folder import DEFAULT, SHAPE, family_of, file_prefix, read_files
from expctl.tables.operations import KNOWN
from expctl.tables.table import BadTable, parse

PLACE = "hip/gemm"
NAME = re.compile(r"(?P<arch>[A-Za-z0-9_]+)-(?P<op>.+?)(?P<shape>-(?:B=\d+-)?N=\d+-K=\d+)?\.json")


def imported(files: Mapping[str, bytes], made_with: Mapping[str, str]) -> dict[str, bytes]:
    """Return the files of today's form, by path, of flat `files` by name. Raises BadTable, for all or for none."""
    folders: dict[tuple[str, str], dict[str, bytes]] = {}
    for name, raw in sorted(files.items()):
        found = NAME.fullmatch(name)
        if found is None:
            raise BadTable(
                f"{name}: expected a name such as gfx950-GEMM-A8W8.json or gfx950-GEMM-A8W8-N=128-K=512.json, found {name}"
            )
        operation = found["op"].lower().replace("-", "_")
        table = replace(parse(raw, name, KNOWN.get(operation), flat=True), made_with=made_with)
        ours = f"{found['op']}{found['shape']}.json" if found["shape"] else DEFAULT
        folders.setdefault((found["arch"], operation), {})[ours] = table.text().encode()
    for (arch, operation), each in folders.items():
        read_files(operation, each, where=arch)
    return {
        f"{arch}/{PLACE}/{operation}/{name}": raw for (arch, operation), each in folders.items() for name, raw in each.items()
    }


def exported(arch: str, operation: str, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the flat form, by name, of the `files` of one folder. What they were made with is left out. Raises BadTable."""
    folder = read_files(operation, files)
    special = next((SHAPE.fullmatch(name) for name in files if family_of(name)), None)
    prefix = special["op"] if special else file_prefix(operation)
    return {
        f"{arch}-{prefix if name == DEFAULT else name.removesuffix('.json')}{'.json'}": replace(table, made_with={})
        .text()
        .encode()
        for name, table in folder.tables.items()
    }
