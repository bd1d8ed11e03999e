"""Large profiles made on the spot: a rocpd database with the schema of a real one, and a CSV kernel trace.

python -m tests.profiling.large_profiles rocpd out.db 1000000
python -m tests.profiling.large_profiles csv out.csv 50
"""

import csv
import gzip
import random
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

GOLDEN = Path(__file__).parent / "golden"
GUID = "00000096_88a3_78a3_98ca_18ea8b796f0d"
REAL = GOLDEN / "rocpd_schema3_gfx1250.db.gz"
FIRST_NS = 9_866_976_200_088


def rocpd(path: Path, dispatches: int, *, overlapping: bool = False) -> None:
    """The real database with its dispatches and events replaced by `dispatches` of all its 179 kernels."""
    path.write_bytes(gzip.decompress(REAL.read_bytes()))
    draw = random.Random(1)
    with sqlite3.connect(path) as database:
        kernels = [kernel for (kernel,) in database.execute(f"SELECT id FROM rocpd_info_kernel_symbol_{GUID}")]
        database.execute(f"DELETE FROM rocpd_kernel_dispatch_{GUID}")
        database.execute(f"DELETE FROM rocpd_event_{GUID}")
        database.executemany(
            f"INSERT INTO rocpd_event_{GUID} (id, category_id, stack_id, parent_stack_id, correlation_id) "
            "VALUES (?, 26, ?, ?, ?)",
            ((n, n, n, n) for n in range(1, dispatches + 1)),
        )

        def rows() -> Iterator[tuple[int, ...]]:
            now = FIRST_NS
            for n in range(1, dispatches + 1):
                kernel = draw.choice(kernels)
                start = now + draw.randrange(500, 5000)
                end = start + int(2000 * 1.04**kernel * draw.uniform(0.9, 1.2))
                yield n, kernel, n, start, end, 98304 + 256 * (kernel % 3), n
                now = start if overlapping else end

        database.executemany(
            f"INSERT INTO rocpd_kernel_dispatch_{GUID} (id, nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, "
            "stream_id, start, end, private_segment_size, group_segment_size, workgroup_size_x, workgroup_size_y, "
            "workgroup_size_z, grid_size_x, grid_size_y, grid_size_z, region_name_id, event_id) "
            "VALUES (?, 2161002656, 146104, 146104, 1, ?, ?, 1, 0, ?, ?, 0, 0, 256, 1, 1, ?, 1, 1, 1, ?)",
            rows(),
        )
    database.close()


def trace(path: Path, megabytes: float) -> None:
    """A kernel trace of the real one's rows, over and over, with moving times, until the file is as large as wanted."""
    with gzip.open(GOLDEN / "rocprofv3_7_gfx1151_kernel_trace.csv.gz", "rt", newline="") as source:
        head, *rows = csv.reader(source)
    start, end = head.index("Start_Timestamp"), head.index("End_Timestamp")
    step = int(rows[-1][end]) - int(rows[0][start]) + 1000
    with open(path, "w", newline="") as target:
        writer = csv.writer(target, quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writerow(head)
        turn = 0
        while target.tell() < megabytes * 1e6:
            for row in rows:
                moved = row.copy()
                moved[start], moved[end] = str(int(row[start]) + turn * step), str(int(row[end]) + turn * step)
                writer.writerow(moved)
            turn += 1


if __name__ == "__main__":
    form, target, amount = sys.argv[1:]
    if form == "rocpd":
        rocpd(Path(target), int(amount))
    else:
        trace(Path(target), float(amount))
