"""Reads every file below a folder twice, with `profile show --json` and with the plainest code there is, and compares.

    python -m benchmarks.profiles.check FOLDER

One line per file: equal, with how much was compared, or why it was refused. Ends with 1 if any figure differs. `checked.txt` is
what it said of 48 published profiles, whose smaller ones are the golden files of the tests.
"""

import csv
import gzip
import json
import sqlite3
import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

EXPCTL = Path(sys.executable).with_name("expctl")
UNITS = {"ns": 1, "us": 1000, "ms": 1_000_000, "nsecond": 1, "usecond": 1000, "msecond": 1_000_000}
Durations = Iterable[tuple[str, int]]
Figures = dict[str, tuple[int, int, int, int, float | None]]


def text_of(path: Path) -> str:
    """The contents, unpacked."""
    contents = path.read_bytes()
    return (gzip.decompress(contents) if path.suffix == ".gz" else contents).decode().strip()


def of_database(path: Path) -> Durations:
    """From the base table alone: views may hide rows."""
    with sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True) as database:
        return database.execute("SELECT display_name, end - start FROM rocpd_kernel_dispatch D JOIN rocpd_info_kernel_symbol S "
                                "ON S.id = D.kernel_id").fetchall()  # fmt: skip


def of_json(document: Any) -> Durations:
    """Dispatches of rocprofv3, or kernels of a chrome trace."""
    for tool in document.get("rocprofiler-sdk-tool", ()):
        names = {each["kernel_id"]: each["formatted_kernel_name"] for each in tool["kernel_symbols"]}
        for each in tool["buffer_records"]["kernel_dispatch"]:
            yield names[each["dispatch_info"]["kernel_id"]], each["end_timestamp"] - each["start_timestamp"]
    for event in document.get("traceEvents", ()):
        if event.get("cat") == "kernel":
            yield event["name"], round(event["dur"] * 1000)


def of_table(rows: list[dict[str, str]]) -> Durations:
    """Dispatches of a trace or of a counter collection, once each; kernels of either page of ncu."""
    if "Kernel_Name" in rows[0] or "Direction" in rows[0]:
        once = {row.get("Dispatch_Id", str(place)): row for place, row in enumerate(rows)}
        return [
            (row.get("Kernel_Name") or row["Direction"], int(row.get("End_Timestamp", 0)) - int(row.get("Start_Timestamp", 0)))
            for row in once.values()
        ]
    if "gpu__time_duration.sum" in rows[0]:
        unit = UNITS[rows[0]["gpu__time_duration.sum"]]
        return [(row["Kernel Name"], round(number(row["gpu__time_duration.sum"]) * unit)) for row in rows[1:]]
    return [
        (row["Kernel Name"], round(number(row["Metric Value"]) * UNITS[row["Metric Unit"]]))
        for row in rows
        if row.get("Metric Name") == "Duration"
    ]


def number(text: str) -> float:
    """A number with commas between thousands."""
    return float(text.replace(",", ""))


def expected(path: Path) -> Figures:
    """Calls, total, least, most and median by kernel, of whatever this is."""
    if path.suffix == ".db":
        return summed(of_database(path))
    text = text_of(path)
    if text.startswith("{"):
        return summed(of_json(json.loads(text)))
    rows = list(csv.DictReader(text.splitlines(keepends=True)))
    if "TotalDurationNs" in rows[0]:
        return {
            row["Name"]: (int(row["Calls"]), int(row["TotalDurationNs"]), int(row["MinNs"]), int(row["MaxNs"]), None)
            for row in rows
        }
    return summed(of_table(rows))


def summed(durations: Durations) -> Figures:
    """Figures by kernel."""
    times = defaultdict(list)
    for name, duration in durations:
        times[name].append(duration)
    return {name: (len(each), sum(each), min(each), max(each), float(statistics.median(each))) for name, each in times.items()}


def shown(facts: dict[str, Any]) -> Figures:
    """The same, as the command prints it: of kernels, or where there are none of copies."""
    names = ("calls", "total_ns", "min_ns", "max_ns", "median_ns")
    return {each["name"]: tuple(each.get(name) for name in names) for each in facts["kernels"] or facts["copies"]}


def compared(path: Path, facts: dict[str, Any]) -> str:
    """What is different; empty when nothing is. A figure that the file doesn't give is none."""
    found, wanted = shown(facts), expected(path)
    for name in found.keys() | wanted.keys():
        pairs = zip(found.get(name, ()), wanted.get(name, ()), strict=False)
        if name not in found or name not in wanted or any(mine not in (None, other) for mine, other in pairs):
            return f"{name}: {found.get(name)}, not {wanted.get(name)}"
    return ""


def lines(folder: Path) -> Iterator[tuple[bool, str]]:
    """Whether each file is as it should be, and the line about it."""
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        ended = subprocess.run([EXPCTL, "profile", "show", path, "--json"], check=False, capture_output=True, text=True)
        name = str(path.relative_to(folder))
        if ended.returncode:
            found = next((line.split(maxsplit=1)[1] for line in ended.stderr.splitlines() if line.startswith("  found")), "")
            yield ended.returncode == 1 and bool(found), f"refused  {name}: {found}"
            continue
        facts = json.loads(ended.stdout)
        different = compared(path, facts)
        amount = f"{facts['calls']} calls of {len(facts['kernels'])} kernels" if facts["kernels"] else "copies alone"
        yield not different, f"{'differs' if different else 'equal':<9}{name}: {different or amount}"


def main() -> None:
    """Print the lines."""
    fine = True
    for good, line in lines(Path(sys.argv[1]).resolve()):
        fine = fine and good
        print(line, flush=True)
    raise SystemExit(0 if fine else 1)


if __name__ == "__main__":
    main()
