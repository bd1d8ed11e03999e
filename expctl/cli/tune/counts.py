"""How many shapes regress by the rule of `expctl compare`: after a tuning against before, or both against a golden file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from expctl.domain.experiment.record import Record


def counts_lines(record: Record, golden: Path | None) -> list[str]:
    """Return the counts of the shapes that got another config; [] where none was compared. They decide nothing."""
    from expctl.domain.experiment.record import OBJECTIVE
    from expctl.screening.result_file import times_of
    from expctl.screening.screen import Case, Status, Times, compare, counts

    timed = [each for each in record.estimates if each.size != OBJECTIVE]
    if not timed:
        return []
    before: Times = {Case("tuned", each.size): [each.baseline_ns / 1000] for each in timed}
    after: Times = {Case("tuned", each.size): [each.candidate_ns / 1000] for each in timed}
    if golden is None:
        found = counts(compare(before, after))
        return [f"{found[Status.REGRESSION]} regressions and {found[Status.IMPROVED]} improved of {len(timed)} changed shapes"]
    reference = {Case("tuned", _shape(case.shape)): times for case, times in times_of(golden).items()}
    known = {case: times for case, times in reference.items() if case in before}
    was, now = (counts(compare(known, {case: side[case] for case in known}))[Status.REGRESSION] for side in (before, after))
    return [f"{was} regressions before, {now} after, of {len(known)} changed shapes that {golden.name} has"]


def _shape(text: str) -> str:
    """Return MxNxK of a shape in a result file, whose first three numbers are M, N and K."""
    return "x".join(re.findall(r"\d+", text)[:3])
