"""What stands for rocprofv3: runs the command and writes what the real one does, or fails the way it does.

`rocprofv3_stand_in.py CALLS MODE WORDS...`: CALLS is the file to note the words in, MODE the file that says how to behave.
A candidate of `FASTER` takes 900 us without scratch, whatever else 1000 us with 64 B.
"""

import csv
import gzip
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))
from tests.profiles.large_profiles import GOLDEN, GUID, rocpd

CALLS = 12


def main() -> int:
    """The exit status."""
    noted, mode_file, *words = sys.argv[1:]
    with open(noted, "a") as file:
        file.write("rocprofv3 " + " ".join(words) + "\n")
    mode = Path(mode_file).read_text().strip() if os.path.exists(mode_file) else "csv"
    split = words.index("--")
    own, command = words[:split], words[split + 1 :]
    counters = _counters(own)
    if mode == "abort" or (mode == "no counters" and counters):
        print("rocprofv3: ROCPROFILER_STATUS_ERROR", file=sys.stderr, flush=True)
        os.abort()
    folder = Path(own[own.index("-d") + 1])
    folder.mkdir(parents=True, exist_ok=True)
    prefix = folder / own[own.index("-o") + 1]
    fast = "sum([" in Path(command[-1]).read_text()
    if mode == "hang":
        (folder / "partial_results.db").write_bytes(b"SQLite format 3\0")
        time.sleep(600)
    status = subprocess.run(command, pass_fds=(int(os.environ["EXPCTL_RESULT_FD"]),)).returncode
    if mode == "rocpd":
        _database(Path(f"{prefix}_results.db"), fast=fast)
    elif mode == "garbage":
        Path(f"{prefix}_results.db").write_bytes(b"SQLite format 3\0" + bytes(range(256)) * 40)
    elif counters:
        _table(
            Path(f"{prefix}_counter_collection.csv"), "rocprofv3_7_gfx1151_stall_counters.csv.gz", fast=fast, counters=counters
        )
    elif mode != "nothing":
        _table(Path(f"{prefix}_kernel_trace.csv"), "rocprofv3_7_gfx1151_kernel_trace.csv.gz", fast=fast, cut=mode == "cut off")
    return status


def _counters(own: Sequence[str]) -> list[str]:
    if "--pmc" not in own:
        return []
    after = own[own.index("--pmc") + 1 :]
    return list(after[: next(i for i, word in enumerate(after) if word.startswith("-"))])


def _table(path: Path, like: str, *, fast: bool, counters: Sequence[str] = ("",), cut: bool = False) -> None:
    """With the columns of a real file, and its first row for all that nobody asked for."""
    with gzip.open(GOLDEN / like, "rt", newline="") as real:
        rows = csv.reader(real)
        head, model = next(rows), next(rows)
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writerow(head)
        for call in range(CALLS):
            start = 10_000_000 + 2_000_000 * call
            for counter in counters:
                cells = dict(zip(head, model, strict=True)) | {
                    "Kernel_Name": "total", "Start_Timestamp": start, "End_Timestamp": start + _duration(fast) + call,
                    "Scratch_Size": 0 if fast else 64, "Dispatch_Id": call + 1, "Correlation_Id": call + 1,
                    "Counter_Name": counter, "Counter_Value": 5000 if fast and counter != "SQ_INSTS_VALU" else 6000,
                }  # fmt: skip
                writer.writerow([cells[name] for name in head])
    if cut:
        text = path.read_text()
        path.write_text(text[: len(text) - 60])


def _database(path: Path, *, fast: bool) -> None:
    rocpd(path, CALLS)
    with sqlite3.connect(path) as database:
        database.execute(
            f"UPDATE rocpd_kernel_dispatch_{GUID} SET kernel_id = (SELECT min(id) FROM rocpd_info_kernel_symbol_{GUID}), "
            "end = start + ? + id, private_segment_size = ?",
            (_duration(fast), 0 if fast else 64),
        )
    database.close()


def _duration(fast: bool) -> int:
    return 900_000 if fast else 1_000_000


if __name__ == "__main__":
    sys.exit(main())
