"""What is on record at one commit: what queue and ledger are functions of. Of ten thousand records a few are read whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from expctl.domain.experiment.queue_ticket import Filing, Ticket
from expctl.domain.ledger.model import Ledger, ledger_from, ledger_from_sums
from expctl.domain.ledger.record_summary import Digest, digest_of, in_order, standing
from expctl.domain.queue.pending import Queue
from expctl.domain.values import dataclass, replace

if TYPE_CHECKING:
    from expctl.domain.experiment.proposal import Proposal
    from expctl.domain.experiment.record import Finding, Record
    from expctl.domain.protocol.model import Protocol
    from expctl.domain.queue.dependency_answer import Profile
    from expctl.domain.queue.ordering import Entry
    from expctl.ports.repository import LedgerShelf, Library


@dataclass(frozen=True, slots=True, kw_only=True)
class Books:
    """What a commit holds. Among `records` are those that show a baseline, and those that no view has drawn before."""

    protocol: Protocol
    digests: Mapping[str, Digest]
    records: Mapping[str, Record]
    findings: tuple[Finding, ...]
    waiting: Queue

    @staticmethod
    def open(library: Library, commit: str, *, drawn: bool = True) -> Books:
        """Read it, with the lines of the ledger that were `drawn` before or without. Raises Refused when something there is
        not well formed.
        """
        digests = library.digests(commit, drawn=drawn)
        undrawn = (each.id for each in digests if each.lines is None)
        return Books(
            protocol=library.protocol(commit),
            digests={each.id: each for each in digests},
            records=library.some_records(commit, {*undrawn, *standing(in_order(digests)).values()}),
            findings=library.findings(commit),
            waiting=Queue.open(library, commit),
        )

    def queue(self) -> tuple[Entry, ...]:
        """What waits, in the order in which it runs."""
        return self.waiting.entries()

    def ledger(self) -> Ledger:
        """What the ledger says."""
        digests = tuple(self.digests.values())
        return ledger_from(self.protocol, digests, self.records, findings=self.findings, queue=self.queue())

    def with_records(self, records: Iterable[Record]) -> Books:
        """After these were concluded, or imported."""
        new = {each.id: each for each in records}
        return replace(
            self,
            digests={**self.digests, **{name: digest_of(each) for name, each in new.items()}},
            records={**self.records, **new},
            waiting=replace(self.waiting, records={**self.waiting.records, **new}),
        )

    def with_record(self, record: Record, profile: Profile) -> Books:
        """After an experiment was concluded, or replicated (then `profile` is empty: the first one stays)."""
        books = self.with_records((record,))
        profiles = {**books.waiting.profiles, record.id: profile} if profile else books.waiting.profiles
        return replace(books, waiting=replace(books.waiting, profiles=profiles))

    def with_proposal(self, proposal: Proposal, ticket: Ticket) -> Books:
        """After one more was queued."""
        filing = Filing(ticket=ticket, content=ticket.content)
        waiting, filings = self.waiting, {**self.waiting.filings, proposal.id: filing}
        return replace(self, waiting=replace(waiting, proposals=(*waiting.proposals, proposal), filings=filings))

    def with_tickets(self, tickets: Mapping[str, Ticket]) -> Books:
        """After some of what is queued got other tickets."""
        filings = self.waiting.filings
        changed = {name: replace(filings[name], ticket=ticket) for name, ticket in tickets.items()}
        return replace(self, waiting=replace(self.waiting, filings={**filings, **changed}))


def ledger_in_pieces(library: Library, shelf: LedgerShelf, commit: str) -> Ledger:
    """As `Books.ledger`, and of ten thousand records nearly as soon as of a few. Raises Refused like `Books.open`."""
    sums = shelf.sums()
    ledger = ledger_from_sums(
        library.protocol(commit),
        sums,
        library.some_records(commit, sums.standing.values()),
        findings=library.findings(commit),
        queue=Queue.open(library, commit).entries(),
    )
    return replace(ledger, pieces=shelf.pieces(sums))
