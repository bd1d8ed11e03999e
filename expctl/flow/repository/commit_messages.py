"""Commit messages. Fixed words and trailers, untrusted text in one line, so that nobody can plant a trailer."""

import re
from collections.abc import Sequence

from expctl.domain.experiment.proposal import Proposal
from expctl.domain.experiment.record import Finding, Record
from expctl.domain.text import one_line

TRAILER = re.compile(r"[\w-]+\s*:", re.ASCII)


def candidate_message(proposal: Proposal, target: str) -> str:
    """Of the commit that is measured, and that a KEEP publishes as it is."""
    return (
        f"{proposal.id}: {one_line(proposal.title, 72)}\n\n{_said(proposal.hypothesis, 600)}\n\n"
        f"Expctl-Id: {proposal.id}\nExpctl-Target: {target}\n"
    )


def record_message(record: Record) -> str:
    """Of the commit that holds record and ledger."""
    reason = _said(record.reasons[0], 400) if record.reasons else ""
    return (
        f"{record.id} {record.verdict} on {record.target}: {one_line(record.title, 60)}\n\n{reason}\n\n"
        f"Expctl-Record: {record.id}\nExpctl-Verdict: {record.verdict}\nExpctl-Target: {record.target}\n"
    )


def queue_message(what: str) -> str:
    """Of a commit that changes tickets and nothing else."""
    return f"Queue: {one_line(what, 100)}\n\nExpctl-Queue: changed\n"


def proposal_message(proposal: Proposal) -> str:
    """Of the commit that queues a proposal."""
    return f"Propose {proposal.id}: {one_line(proposal.title, 60)}\n\nExpctl-Proposal: {proposal.id}\n"


def import_message(file: str, ids: Sequence[str]) -> str:
    """Of the commit that takes in a hand-kept ledger."""
    named = ", ".join(ids[:40]) + (f" and {len(ids) - 40} more" if len(ids) > 40 else "")
    return f"Import {len(ids)} experiments from {one_line(file, 60)}\n\n{named}\n\nExpctl-Import: {one_line(file, 60)}\n"


def finding_message(finding: Finding, verb: str) -> str:
    """Of the commit that adds or marks a finding. `verb` is its first word."""
    return f"{verb} finding {finding.id}: {one_line(finding.text, 60)}\n\nExpctl-Finding: {finding.id}\n"


def _said(text: str, limit: int) -> str:
    """A paragraph of others' words. One that looks like a trailer is quoted: some readers look for these in every line."""
    line = one_line(text, limit)
    return f"> {line}" if TRAILER.match(line) else line
