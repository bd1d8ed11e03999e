"""The screening of two result files as text for a terminal and as CSV; control characters in names are escaped."""

import csv
import io
from collections.abc import Mapping, Sequence

from expctl.domain.layout import Column, cut_middle, named_table
from expctl.domain.text import one_line, plain_text
from expctl.screening.screen import RULE, Environments, Row, Status

# Longest key or value of an environment that widens its column.
NAME_MAX = 48
VALUE_MAX = 60
SHAPE_MAX = 60
PACKAGES = "packages."
CSV_COLUMNS = (
    "kernel", "shape", "golden_us", "tot_us", "delta_us", "ratio", "status",
    "golden_rows", "tot_rows", "golden_sd_us", "tot_sd_us", "remarks",
)  # fmt: skip


def comparison_lines(
    rows: Sequence[Row], counts: Mapping[Status, int], environments: Environments | None, width: int = 0
) -> list[str]:
    """Return the comparison of two result files as lines: its rule, where they were measured, each row, counts by status. The
    table fits into `width` columns, unless it is 0; what a row remarks stands below it.
    """
    columns = [
        Column("status", [row.status for row in rows], words=True),
        Column("tot/golden", [_figure(row.ratio, ".4f") for row in rows]),
        Column("golden_us", [_figure(row.golden_us, ".3f") for row in rows], rank=2),
        Column("tot_us", [_figure(row.tot_us, ".3f") for row in rows], rank=1),
        Column("delta_us", [_figure(row.delta_us, "+.3f") for row in rows], rank=3),
        Column("shape", [cut_middle(one_line(row.shape), width // 4 or SHAPE_MAX) for row in rows], words=True),
    ]
    (heads, *lines), left_out = named_table(columns, Column("kernel", [one_line(row.kernel) for row in rows]), width)
    remarks = [[f"    ({'; '.join(row.remarks)})"] if row.remarks else [] for row in rows]
    table = [heads, *(text for line, below in zip(lines, remarks, strict=True) for text in (line, *below))]
    hidden = [f"(no room for {', '.join(left_out)}: a wider terminal, --csv or --json has them)"] if left_out else []
    counted = ", ".join(f"{count} {status}" for status, count in counts.items())
    return [RULE, *_environment_lines(environments), "", *table, *hidden, "", counted]


def comparison_csv(rows: Sequence[Row]) -> str:
    """Return CSV with a header and one line per kernel and shape; unknown values are empty, remarks are joined with `; `."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for row in rows:
        words = {"kernel": _lines_kept(row.kernel), "shape": _lines_kept(row.shape), "remarks": "; ".join(row.remarks)}
        writer.writerow([words.get(name, getattr(row, name)) for name in CSV_COLUMNS])
    return stream.getvalue()


def _environment_lines(environments: Environments | None) -> list[str]:
    if environments is None:
        return []
    golden, tot = environments.golden or {}, environments.tot or {}
    known = {**golden, **tot}
    same = [key for key in known if key.startswith(PACKAGES) and golden.get(key) == tot.get(key)]
    keys = {key: one_line(key, VALUE_MAX) for key in known if key not in same}
    values = [one_line(golden.get(key, "-"), VALUE_MAX) for key in keys]
    key_width, value_width = _width("environment", list(keys.values())), _width("golden", values)
    lines = ["", f"  {'environment':<{key_width}}  {'golden':<{value_width}}  tot"]
    for (key, shown), value in zip(keys.items(), values, strict=True):
        mark = "*" if key in environments.differing else " "
        lines.append(f"{mark} {shown:<{key_width}}  {value:<{value_width}}  {one_line(tot.get(key, '-'), VALUE_MAX)}")
    hidden = f"; packages that don't differ, not shown: {len(same)}" if same else ""
    return [*lines, f"  * differs: {len(environments.differing)} of {len(known)}{hidden}"]


def _figure(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def _width(head: str, column: Sequence[str]) -> int:
    return max(len(head), *(len(text) for text in column if len(text) <= NAME_MAX), 0)


def _lines_kept(text: str) -> str:
    return "\n".join(plain_text(line) for line in text.splitlines())
