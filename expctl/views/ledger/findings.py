"""Findings (sentences with evidence) as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from expctl.domain.text import one_line

if TYPE_CHECKING:
    from expctl.domain.experiment.finding import Finding

TEXT_MAX = 1300


def finding_lines(findings: Sequence[Finding]) -> list[str]:
    """Return two lines per finding: its text, and its evidence. Findings that are still valid come first."""
    order = sorted(findings, key=lambda each: not each.stands)
    return [line for each in order for line in _lines(each)] or ["no finding yet: expctl finding add TEXT --evidence ID"]


def noted_lines(finding: Finding, commit: str) -> list[str]:
    """Return a finding as lines, with the commit that recorded it; `commit` is "" if it was recorded already."""
    return [*_lines(finding), f"  committed as {commit[:10]}, ledger.md updated" if commit else "  stands so already"]


def about(finding: Finding) -> str:
    """Return kind, date, evidence and state of a finding, e.g. `measured; since 2026-03-01; shown by P16`. A finding that is
    superseded or contradicted has a further part, such as `SUPERSEDED by F9`.
    """
    parts = (
        finding.kind,
        f"since {finding.since}" if finding.since else "",
        f"shown by {', '.join(finding.evidence)}" if finding.evidence else "",
        f"SUPERSEDED by {finding.superseded_by}" if finding.superseded_by else "",
        f"CONTRADICTED by {finding.contradicted_by}" if finding.contradicted_by else "",
    )
    return "; ".join(part for part in parts if part)


def _lines(finding: Finding) -> list[str]:
    return [f"{finding.id:<5} {one_line(finding.text, TEXT_MAX)}", f"      {one_line(about(finding), TEXT_MAX)}"]
