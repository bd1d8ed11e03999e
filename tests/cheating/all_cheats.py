"""Every variant through `expctl run`, each in a repository of its own: the long form, half an hour on a quiet core.

    python -m tests.cheating.all_cheats FOLDER [--table tests/cheating/table.json]

The state is FOLDER/results.jsonl: started again, the script goes on where it was. The table is what is committed.
All runs on one core, so that a variant can take more than it was given.
"""

import argparse
import json
import os
import re
import shutil
import sys
from functools import partial
from pathlib import Path

from tests.cheating.repository import repository, run
from tests.cheating.variants import CHEATS, HONEST, Cheat, build

LIES = {"clock-a-little-slower": r"hidden time: (objective|n=384) "}
"""Cheats that nothing but the verdict sees."""


def row(name: str, kind: str, verdict: str, reason: str, *, holds: bool) -> dict[str, object]:
    """One line of the table."""
    return {"name": name, "kind": kind, "verdict": verdict, "reason": reason, "holds": holds}


def of_cheat(cheat: Cheat, folder: Path, library: Path) -> dict[str, object]:
    """No KEEP, and the reason named; where what it tries is denied, it is timed and gains nothing."""
    record = run(repository(folder, library), "P1", cheat.name)
    verdict, reason = str(record["verdict"]), str(record["reasons"][0])  # type: ignore[index]
    named = re.search(cheat.reason, reason) is not None if cheat.reason else record.get("estimates") is not None
    return row(cheat.name, "cheat" if cheat.reason else "denied", verdict, reason, holds=verdict != "KEEP" and named)


def of_honest(name: str, folder: Path, library: Path) -> dict[str, object]:
    """Timed to a verdict, whatever that is: no step and no clock has anything against it."""
    baseline = "plain" if name != "plain" else "writes-twice"
    record = run(repository(folder, library, baseline=baseline), "P1", name)
    reason = str(record["reasons"][0])  # type: ignore[index]
    flagged = record.get("estimates") is None or reason.startswith("hidden time")
    return row(name, "honest", str(record["verdict"]), reason, holds=not flagged)


def main() -> int:
    """1 when a line doesn't hold."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=Path)
    options.add_argument("--table", type=Path)
    asked = options.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    asked.folder.mkdir(parents=True, exist_ok=True)
    library = build(asked.folder)
    state = asked.folder / "results.jsonl"
    rows = [json.loads(line) for line in state.read_text().splitlines()] if state.exists() else []
    lies = [Cheat(name=name, step="verdict", reason=reason) for name, reason in LIES.items()]
    tasks = [(cheat.name, partial(of_cheat, cheat, library=library)) for cheat in (*CHEATS, *lies)]
    tasks += [(name, partial(of_honest, name, library=library)) for name in HONEST]
    for name, task in tasks:
        if any(each["name"] == name for each in rows):
            continue
        folder = asked.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        rows.append(task(folder))
        with state.open("a") as file:
            file.write(json.dumps(rows[-1]) + "\n")
        print(json.dumps(rows[-1]), flush=True)
        shutil.rmtree(folder, ignore_errors=True)
    failed = [each["name"] for each in rows if not each["holds"]]
    kinds = {kind: sum(each["kind"] == kind for each in rows) for kind in ("cheat", "denied", "honest")}
    if asked.table is not None:
        table = {
            "command": "python -m tests.cheating.all_cheats FOLDER --table tests/cheating/table.json",
            **kinds,
            "rows": rows,
        }
        asked.table.write_text(json.dumps(table, indent=1) + "\n")
    print(f"{kinds}; {len(failed)} don't hold: {', '.join(map(str, failed))}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
