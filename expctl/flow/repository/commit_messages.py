"""Write commit messages. Untrusted text is put on one line, so that it can't add a trailer."""

import re
from collections.abc import Sequence

from expctl.domain.experiment.finding import Finding
from expctl.domain.experiment.proposal import Proposal
from expctl.domain.experiment.record import Record
from expctl.domain.experiment.rivals import Rivals
from expctl.domain.history.blind import BlindSlot
from expctl.domain.text import one_line

TRAILER = re.compile(r"[\w-]+\s*:", re.ASCII)


def candidate_message(proposal: Proposal, target: str) -> str:
    """Return the message of the commit with a proposal's patch. It is measured, and published if the verdict is KEEP."""
    return (
        f"{proposal.id}: {one_line(proposal.title, 72)}\n\n{_paragraph(proposal.hypothesis, 600)}\n\n"
        f"Expctl-Id: {proposal.id}\nExpctl-Target: {target}\n"
    )


def record_message(record: Record) -> str:
    """Return the message of the commit that adds a record and updates the ledger."""
    reason = _paragraph(record.reasons[0], 400) if record.reasons else ""
    return (
        f"{record.id} {record.verdict} on {record.target}: {one_line(record.title, 60)}\n\n{reason}\n\n"
        f"Expctl-Record: {record.id}\nExpctl-Verdict: {record.verdict}\nExpctl-Target: {record.target}\n"
    )


def records_message(records: Sequence[Record]) -> str:
    """Return the message of the commit that adds several records, with the trailers of each, and updates the ledger."""
    named = ", ".join(f"{each.id} {each.verdict}" for each in records[:3])
    more = f" and {len(records) - 3} more" if len(records) > 3 else ""
    lines = [f"{each.id} {each.verdict} on {each.target}: {one_line(each.title, 60)}" for each in records]
    trailers = [f"Expctl-Record: {each.id}\nExpctl-Verdict: {each.verdict}\nExpctl-Target: {each.target}\n" for each in records]
    return f"{named}{more}\n\n{chr(10).join(lines)}\n\n{''.join(trailers)}"


def blind_message(slot: BlindSlot) -> str:
    """Return the message of the commit that adds a blind slot."""
    return (
        f"Blind slot {slot.verdict} on {slot.target}: {slot.truth.words}\n\n{_paragraph(slot.reasons[0], 400)}\n\n"
        f"Expctl-Blind: {slot.truth}\nExpctl-Verdict: {slot.verdict}\nExpctl-Target: {slot.target}\n"
    )


def drift_message(record: Record) -> str:
    """Return the message of the commit that adds to a record what its change gains with each side's own best config."""
    said = _paragraph(record.drift.explanation if record.drift else "", 400)
    return f"Drift of {record.id} on {record.target}\n\n{said}\n\nExpctl-Drift: {record.id}\nExpctl-Target: {record.target}\n"


def rivals_message(rivals: Rivals) -> str:
    """Return the message of the commit that adds the times of rivals."""
    sizes = ", ".join(one_line(size.name, 40) for size in rivals.sizes[:6])
    return (
        f"Rivals on {rivals.target}: {one_line(sizes, 50)}\n\n{rivals.number_kind} beside the kernel of {rivals.head[:12]}.\n\n"
        f"Expctl-Rivals: {rivals.target}\n"
    )


def queue_message(what: str) -> str:
    """Return the message of a commit that changes the queue only; `what` is its subject."""
    return f"Queue: {one_line(what, 100)}\n\nExpctl-Queue: changed\n"


def campaign_message(home: str, branch: str) -> str:
    """Return the message of the merge by which a campaign on `branch` follows the branch `home`."""
    return f"Campaign: merge {one_line(home, 60)} into {one_line(branch, 60)}\n\nExpctl-Campaign: {one_line(branch, 200)}\n"


def proposal_message(proposal: Proposal) -> str:
    """Return the message of the commit that queues a proposal."""
    return f"Propose {proposal.id}: {one_line(proposal.title, 60)}\n\nExpctl-Proposal: {proposal.id}\n"


def import_message(file: str, ids: Sequence[str]) -> str:
    """Return the message of the commit that imports a manual ledger; it names at most 40 ids."""
    named = ", ".join(ids[:40]) + (f" and {len(ids) - 40} more" if len(ids) > 40 else "")
    return f"Import {len(ids)} experiments from {one_line(file, 60)}\n\n{named}\n\nExpctl-Import: {one_line(file, 60)}\n"


def finding_message(finding: Finding, verb: str) -> str:
    """Return the message of the commit that adds or marks a finding; `verb` is its first word: Add, Supersede or Contradict."""
    return f"{verb} finding {finding.id}: {one_line(finding.text, 60)}\n\nExpctl-Finding: {finding.id}\n"


def _paragraph(text: str, limit: int) -> str:
    """Return text on one line of at most `limit` characters; `> ` precedes what looks like a trailer (`Signed-off-by:`)."""
    line = one_line(text, limit)
    return f"> {line}" if TRAILER.match(line) else line
