"""The ledger and the queue read from a commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from expctl.domain.ledger.inputs import LedgerInputs
from expctl.domain.ledger.model import Ledger, ledger_from_sums
from expctl.domain.ledger.record_summary import in_order, standing
from expctl.flow.repository.pending import read_queue

if TYPE_CHECKING:
    from expctl.ports.repository import LedgerShelf, Library


def read_ledger_inputs(library: Library, commit: str, *, drawn: bool = True) -> LedgerInputs:
    """Read what ledger and queue of `commit` are functions of, with or without the ledger lines that were `drawn` before.

    Raises Refused when something there is not well formed.
    """
    digests = library.digests(commit, drawn=drawn)
    undrawn = (each.id for each in digests if each.lines is None)
    return LedgerInputs(
        protocol=library.protocol(commit),
        digests={each.id: each for each in digests},
        records=library.some_records(commit, {*undrawn, *standing(in_order(digests)).values()}),
        findings=library.findings(commit),
        waiting=read_queue(library, commit),
    )


def ledger_in_pieces(library: Library, shelf: LedgerShelf, commit: str) -> Ledger:
    """Return the ledger of `commit`, nearly as soon for ten thousand records as for a few. Raises Refused."""
    sums = shelf.sums()
    ledger = ledger_from_sums(
        library.protocol(commit),
        sums,
        library.some_records(commit, sums.standing.values()),
        findings=library.findings(commit),
        queue=read_queue(library, commit).entries(),
    )
    return replace(ledger, pieces=shelf.pieces(sums))
