"""Screen two result files: golden, the reference, and tot ("top of tree"), the one under test.

A screen is no verdict: both files were measured earlier and separately, so it tells where to look, never what to keep.
Rows with equal kernel and shape are repetitions, which screening/repetitions.py reduces to one time.

The status of a kernel and shape is the first of these that applies:
1. missing: one file has no such kernel and shape; a remark names the file that has it;
2. ignored: golden is below 4 us (if its repetitions are unstable, all of them are);
3. unstable: the repetitions in a file disagree;
4. regression: tot > 1.005 golden + 0.5 us; 5. improved: golden > 1.005 tot + 0.5 us; 6. same.
Rule and figures are those of the agreed timing rule for batched GEMM in ROCm/aiter pull request 3283.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from expctl.screening.repetitions import Timing, is_above, timing_of

GOLDEN_MIN_US = 4.0
SLACK_FACTOR = 1.005
SLACK_US = 0.5

RULE = (
    f"regression iff tot_us > {SLACK_FACTOR:g} golden_us + {SLACK_US:g} us, "
    f"improved iff golden_us > {SLACK_FACTOR:g} tot_us + {SLACK_US:g} us, golden_us < {GOLDEN_MIN_US:g} us ignored"
)


class Status(StrEnum):
    """Result for one kernel and shape: slower, faster, the same, too short to judge, unstable, or missing in one file."""

    REGRESSION = "regression"
    IMPROVED = "improved"
    SAME = "same"
    IGNORED = "ignored"
    UNSTABLE = "unstable"
    MISSING = "missing"


class Case(NamedTuple):
    """A kernel and a shape, by which the rows of two result files are matched."""

    kernel: str
    shape: str


Times = Mapping[Case, Sequence[float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Times and status of one kernel and shape; `golden` is the reference, `tot` the file under test. `ratio` is tot / golden,
    `delta_us` is tot - golden. A time is None where it is missing or unstable; then these are None too.
    """

    kernel: str
    shape: str
    golden_us: float | None
    tot_us: float | None
    ratio: float | None
    delta_us: float | None
    status: Status
    golden_rows: int
    tot_rows: int
    golden_sd_us: float | None
    tot_sd_us: float | None
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Environments:
    """Where both files were measured, as facts (name -> value), None for a file without; `differing` are names of facts."""

    golden: Mapping[str, str] | None
    tot: Mapping[str, str] | None
    differing: tuple[str, ...]


def compare(golden: Times, tot: Times) -> tuple[Row, ...]:
    """Match the times (us) of two files by kernel and shape, and judge `tot` (under test) against `golden` (reference).

    Rows are in this order: regressions; same and improved; unstable; missing; ignored. Within each group the highest ratio is
    first, equal ones are by name.
    """
    rows = [_row(case, timing_of(golden.get(case, ())), timing_of(tot.get(case, ()))) for case in {**golden, **tot}]
    return tuple(sorted(rows, key=_order))


def counts(rows: Sequence[Row]) -> dict[Status, int]:
    """Return the number of rows for every status, also for those without any."""
    found = dict.fromkeys(Status, 0)
    for row in rows:
        found[row.status] += 1
    return found


def fails(rows: Sequence[Row]) -> bool:
    """Return whether the comparison fails: a row is a regression, or every row is missing or unstable."""
    statuses = {row.status for row in rows}
    return Status.REGRESSION in statuses or statuses <= {Status.MISSING, Status.UNSTABLE}


def environments_of(golden: Mapping[str, str] | None, tot: Mapping[str, str] | None) -> Environments | None:
    """Return the facts (name -> value) on where both files were measured, and the names of those that differ. None stands for a
    file without facts, and is returned if neither file has any; with one such file, none differ.
    """
    if golden is None and tot is None:
        return None
    known = golden is not None and tot is not None
    keys = {**(golden or {}), **(tot or {})}
    differing = tuple(key for key in keys if known and (golden or {}).get(key) != (tot or {}).get(key))
    return Environments(golden=golden, tot=tot, differing=differing)


def _row(case: Case, golden: Timing | None, tot: Timing | None) -> Row:
    golden_us = golden.time_us if golden else None
    tot_us = tot.time_us if tot else None
    remarks = [f"{side}: {text}" for side, timing in (("golden", golden), ("tot", tot)) if timing for text in timing.remarks]
    if golden is None or tot is None:
        remarks.insert(0, f"only {'tot' if golden is None else 'golden'} has it")
    ratio = delta_us = None
    if golden_us is not None and tot_us is not None:
        ratio, delta_us = tot_us / golden_us, tot_us - golden_us
    return Row(
        kernel=case.kernel,
        shape=case.shape,
        golden_us=golden_us,
        tot_us=tot_us,
        ratio=ratio,
        delta_us=delta_us,
        status=_status(golden, tot),
        golden_rows=golden.rows if golden else 0,
        tot_rows=tot.rows if tot else 0,
        golden_sd_us=golden.sd_us if golden else None,
        tot_sd_us=tot.sd_us if tot else None,
        remarks=tuple(remarks),
    )


def _status(golden: Timing | None, tot: Timing | None) -> Status:
    if golden is None or tot is None:
        return Status.MISSING
    if is_above(GOLDEN_MIN_US, golden.longest_us):
        return Status.IGNORED
    if golden.time_us is None or tot.time_us is None:
        return Status.UNSTABLE
    if is_above(tot.time_us, SLACK_FACTOR * golden.time_us + SLACK_US):
        return Status.REGRESSION
    if is_above(golden.time_us, SLACK_FACTOR * tot.time_us + SLACK_US):
        return Status.IMPROVED
    return Status.SAME


_GROUPS = {Status.REGRESSION: 0, Status.SAME: 1, Status.IMPROVED: 1, Status.UNSTABLE: 2, Status.MISSING: 3, Status.IGNORED: 4}


def _order(row: Row) -> tuple[int, float, str, str]:
    return _GROUPS[row.status], -row.ratio if row.ratio is not None else 0.0, row.kernel, row.shape
