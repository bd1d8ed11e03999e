"""The ledger and the queue read from a commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from expctl.domain.ledger.inputs import LedgerInputs
from expctl.domain.ledger.model import Ledger, ledger_from
from expctl.domain.ledger.record_summary import in_order, standing
from expctl.flow.repository.pending import read_queue

if TYPE_CHECKING:
    from expctl.ports.repository import Library


def read_ledger_inputs(library: Library, commit: str) -> LedgerInputs:
    """Read what ledger and queue of `commit` are functions of. Raises Refused when something there is not well formed."""
    digests = library.digests(commit)
    return LedgerInputs(
        protocol=library.protocol(commit),
        digests={each.id: each for each in digests},
        records=library.some_records(commit, standing(in_order(digests)).values()),
        findings=library.findings(commit),
        waiting=read_queue(library, commit),
        template=library.ledger_template(commit),
    )


def read_ledger(library: Library, commit: str) -> Ledger:
    """Return the ledger of `commit` from totals over its records, which take less time than their summaries. Raises Refused."""
    sums = library.ledger_totals(commit)
    return ledger_from(
        library.protocol(commit),
        sums,
        library.some_records(commit, sums.standing.values()),
        findings=library.findings(commit),
        queue=read_queue(library, commit).entries(),
        template=library.ledger_template(commit),
    )
