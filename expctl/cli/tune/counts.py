"""How many shapes regress by the rule of `expctl compare`: after a tuning against before, or both against a golden file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from expctl.domain.experiment.record import Record
    from expctl.screening.screen import Times


def reference_times(golden: Path) -> Times:
    """Return the times of another day in the result file `golden`, by shape (MxNxK). Raises Refused if it can't be read."""
    from expctl.screening.result_file import times_of
    from expctl.screening.screen import Case

    return {Case("tuned", _shape(case.shape)): times for case, times in times_of(golden).items()}


def counts_lines(record: Record, reference: Times | None) -> list[str]:
    """Return the counts of the shapes that got another config, with a `reference` of regressions against it; [] where none was
    compared. They decide nothing.
    """
    from expctl.domain.experiment.record import OBJECTIVE
    from expctl.screening.screen import Case, Status, compare, counts

    timed = [each for each in record.estimates if each.size != OBJECTIVE]
    if not timed:
        return []
    before: Times = {Case("tuned", each.size): [each.baseline_ns / 1000] for each in timed}
    after: Times = {Case("tuned", each.size): [each.candidate_ns / 1000] for each in timed}
    if reference is None:
        found = counts(compare(before, after))
        return [f"{found[Status.REGRESSION]} regressions and {found[Status.IMPROVED]} improved of {len(timed)} changed shapes"]
    known = {case: times for case, times in reference.items() if case in before}
    was, now = (counts(compare(known, {case: side[case] for case in known}))[Status.REGRESSION] for side in (before, after))
    return [f"{was} regressions before, {now} after, of {len(known)} changed shapes that were timed then"]


def _shape(text: str) -> str:
    """Return MxNxK of a shape in a result file, whose first three numbers are M, N and K."""
    return "x".join(re.findall(r"\d+", text)[:3])
