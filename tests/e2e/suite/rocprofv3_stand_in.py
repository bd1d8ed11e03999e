"""What stands for `rocprofv3 --kernel-trace --output-format csv`: runs the command, and writes rows of a recorded trace.

It writes the first 13 dispatches of gemm_prefetch and what lies between them, with the variable STRETCH times the duration.
"""

import csv
import gzip
import os
import subprocess
import sys
from pathlib import Path

RECORDED = Path(__file__).parents[2] / "profiles/golden/rocprofv3_7_gfx950_kernel_trace.csv.gz"
CALLS = 13


def main() -> int:
    """The exit status."""
    words = sys.argv[1:]
    split = words.index("--")
    status = subprocess.run(words[split + 1 :]).returncode
    out = Path(words[words.index("-d") + 1]) / "host"
    out.mkdir()
    with gzip.open(RECORDED, "rt", newline="") as file, open(out / "7_kernel_trace.csv", "w", newline="") as written:
        rows = csv.DictReader(file)
        writer = csv.DictWriter(written, rows.fieldnames or (), quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writeheader()
        calls = 0
        while calls < CALLS:
            row = next(rows)
            calls += row["Kernel_Name"] == "gemm_prefetch"
            start, end = int(row["Start_Timestamp"]), int(row["End_Timestamp"])
            writer.writerow(row | {"End_Timestamp": start + int((end - start) * float(os.environ["STRETCH"]))})
    return status


if __name__ == "__main__":
    sys.exit(main())
