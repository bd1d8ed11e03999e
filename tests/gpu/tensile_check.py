"""The decoder of Tensile names against names whose parameters are known.

`python -m tests.gpu.tensile_check FOLDER` reads `truth.jsonl.gz` and `names.txt` there, prints what agrees, and exits with 1
for what may not be: an unread name, an unknown key, a wrong tile, transpose or number of threads, a value that should agree.
"""

import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from expctl.gpu.tensile.logic_file import compare
from expctl.gpu.tensile.name import KernelName, read_name
from expctl.gpu.tensile.threads import threads

# What the generators are known to change after naming.
MAY_DIFFER = {"PrefetchLocalRead", "StaggerUStride", "LocalReadVectorWidth", "TransposeLDS", "1LDSBuffer"}
TILE = ("MacroTile0", "MacroTile1", "DepthU")


@dataclass
class Tally:
    """What was counted. `wrong` must stay empty."""

    compared: int = 0
    threads_known: int = 0
    threads_unknown: int = 0
    differing: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def check_truth(records: Iterable[dict[str, Any]]) -> Tally:
    """Every parameter that a name carries, against the record."""
    tally = Tally()
    for record in records:
        for name in filter(None, (record["name"], record["kernel_name"])):
            read = read_name(name)
            if read is None or not read.tile or read.unknown_keys:
                tally.wrong.append(f"not read: {name}")
                continue
            _check_one(read, record, tally)
    return tally


def _check_one(read: KernelName, record: dict[str, Any], tally: Tally) -> None:
    found, name = threads(read, record["arch"]), read.name
    if found.workgroup is None:
        tally.threads_unknown += 1
    else:
        tally.threads_known += 1
        if found.workgroup != record["params"]["NumThreads"]:
            tally.wrong.append(f"{found.workgroup} threads, record {record['params']['NumThreads']}: {name}")
    problem = read.problem
    transposes = bool(record["problem"]["TransposeA"]), bool(record["problem"]["TransposeB"])
    if problem is None or (problem.a.transposed, problem.b.transposed) != transposes:
        tally.wrong.append(f"transposes differ: {name}")
    agreements = compare(read, record["params"])
    if {each.parameter for each in agreements if each.agrees} & set(TILE) != set(TILE):
        tally.wrong.append(f"macro tile: {name}")
    for each in agreements:
        tally.compared += 1
        if not each.agrees:
            tally.differing[each.parameter] += 1
            if each.parameter not in MAY_DIFFER:
                tally.wrong.append(f"{each.parameter}: requested {each.requested}, record {each.recorded}: {name}")


def check_names(names: Iterable[str]) -> list[str]:
    """Names that aren't read, or have a key that isn't known."""
    reads = ((name, read_name(name)) for name in names)
    return [name for name, read in reads if read is None or read.unknown_keys]


def main(folder: Path) -> int:
    with gzip.open(folder / "truth.jsonl.gz", "rt") as lines:
        tally = check_truth(map(json.loads, lines))
    names = (folder / "names.txt").read_text().splitlines()
    unread = check_names(names)
    print(f"{tally.compared} parameters compared, differing from the record: {dict(tally.differing)}")
    print(f"threads equal for {tally.threads_known} names, not told by {tally.threads_unknown}")
    print(f"{len(names) - len(unread)} of {len(names)} names read without an unknown key")
    print("\n".join(tally.wrong + unread))
    return 1 if tally.wrong or unread else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
