"""What `expctl suite` found, as text for a terminal; control characters in names are escaped."""

from collections.abc import Sequence
from pathlib import Path

from expctl.domain.layout import Column, named_table
from expctl.domain.text import one_line
from expctl.suite.coverage import Coverage
from expctl.suite.measure import CaseTimes
from expctl.suite.model import Suite
from expctl.suite.results import gb_s
from expctl.suite.spread import SD_SHARE_MAX, Spread

HEADS = ("mean us", "sd %", "median", "p90", "p99", "GB/s", "first us", "runs")
RANKS = (0, 0, 3, 4, 2, 5, 1, 6)


def times_lines(suite: Suite, found: Sequence[CaseTimes], width: int = 0) -> list[str]:
    """Return a table of times, and below each kernel and shape what makes them doubtful. The mean is that which `compare`
    takes; spread and quantiles are of the repetition with the largest standard deviation, the first call of the slowest.
    """
    rows = [_cells(each) for each in found]
    columns = [Column(head, [row[at] for row in rows], rank=RANKS[at]) for at, head in enumerate(HEADS)]
    names = Column("kernel and shape", [one_line(f"{each.kernel} {each.shape}", 200) for each in found], words=True)
    (heads, *lines), left_out = named_table(columns, names, width)
    doubts = [[f"    {one_line(text, 600)}" for text in _doubts(each)] for each in found]
    table = [heads, *(text for line, below in zip(lines, doubts, strict=True) for text in (line, *below))]
    hidden = [f"(no room for {', '.join(left_out)}: a wider terminal, the CSV or --json has them)"] if left_out else []
    counted = f"each run: {suite.warmups} calls that never count (first us: the very first), then {suite.iterations} or more"
    return [*table, *hidden, "", counted]


def files_lines(results: Path, environment: Path) -> list[str]:
    """Return where the results lie."""
    return [f"  {'results':<12}{results}", f"  {'environment':<12}{environment}"]


def coverage_lines(found: Sequence[Coverage], width: int = 0) -> list[str]:
    """Return the table kernel, benchmark file, config files, and what is missing."""
    columns = [
        Column("shapes", [str(each.shapes or "-") for each in found], rank=1),
        Column("config files", [_configs(each) for each in found], words=True),
        Column("benchmark file", [_benchmark(each) for each in found], words=True),
    ]
    names = Column("kernel", [one_line(each.kernel, 200) for each in found], words=True)
    lines, _ = named_table(columns, names, width)
    whole = sum(each.is_whole for each in found)
    return [*lines, "", f"{whole} of {len(found)} kernels are covered"]


def _benchmark(each: Coverage) -> str:
    if not each.shapes:
        return "no: it is not in the suite"
    if not each.benchmark:
        return "no: none is named"
    return one_line(f"no: {each.benchmark} is missing" if each.benchmark in each.missing else each.benchmark, 120)


def _configs(each: Coverage) -> str:
    if not each.wants_configs:
        return "-"
    return one_line(", ".join(path.rpartition("/")[2] for path in each.configs), 120) or "no: no file fits"


def _cells(case: CaseTimes) -> list[str]:
    timing = case.timing
    if case.failed or not case.repetitions or timing is None:
        return ["failed", *["-"] * (len(HEADS) - 2), str(len(case.repetitions))]
    worst = _worst(case)
    speed = gb_s(case.moved, timing.time_us)
    return [
        "unstable" if timing.time_us is None else f"{timing.time_us:.6g}",
        f"{100 * worst.sd_us / worst.mean_us:.1f}",
        *(f"{each:.6g}" for each in (worst.median_us, worst.p90_us, worst.p99_us)),
        "-" if speed is None else f"{speed:.4g}",
        f"{max(each.first_us for each in case.repetitions):.4g}",
        str(len(case.repetitions)),
    ]


def _doubts(case: CaseTimes) -> list[str]:
    if case.failed or case.timing is None:
        return [f"failed: {case.failed}"]
    worst = _worst(case)
    share = f"sd {100 * worst.sd_us / worst.mean_us:.0f} % of the mean (above {100 * SD_SHARE_MAX:.0f} %)"
    within = [f"within a run: {share}: {worst.causes}"] if worst.causes else []
    return [*(f"between runs: {remark}" for remark in case.timing.remarks), *within]


def _worst(case: CaseTimes) -> Spread:
    return max(case.repetitions, key=lambda each: each.sd_us / each.mean_us)
