"""The data of one commit from which its ledger and queue are computed. Of most records only a summary is loaded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from expctl.domain.experiment.queue_ticket import QueuedTicket, Ticket
from expctl.domain.ledger.model import Ledger, ledger_from
from expctl.domain.ledger.record_summary import RecordSummary, summary_of
from expctl.domain.ledger.totals import sums_of
from expctl.domain.queue.pending import Queue

if TYPE_CHECKING:
    from expctl.domain.experiment.finding import Finding
    from expctl.domain.experiment.hot_loop import HotLoop
    from expctl.domain.experiment.proposal import Proposal
    from expctl.domain.experiment.record import Record
    from expctl.domain.experiment.rivals import Rivals
    from expctl.domain.history.blind import BlindSlot
    from expctl.domain.history.comparability import Comparability
    from expctl.domain.protocol.model import Protocol
    from expctl.domain.queue.ordering import Entry


class LedgerInputs(Struct, frozen=True, kw_only=True):
    """The data of one commit from which its ledger and queue are computed. `digests` maps each id to a summary of its record.

    `records` has at least the newest KEEPs, and the whole record that last timed each target. `conditions` maps each target
    that may decide to the conditions of its next run, as far as the commit determines them. `template` is the repository's own
    ledger template, or "".
    `rivals` are the newest of each target, `hot_loops` those of exactly this code that are committed.
    """

    protocol: Protocol
    digests: Mapping[str, RecordSummary]
    records: Mapping[str, Record]
    findings: tuple[Finding, ...]
    waiting: Queue
    conditions: Mapping[str, Comparability]
    template: str = ""
    blind: tuple[BlindSlot, ...] = ()
    rivals: tuple[Rivals, ...] = ()
    hot_loops: tuple[HotLoop, ...] = ()

    def queue(self) -> tuple[Entry, ...]:
        """Return the waiting proposals in the order in which they will run."""
        return self.waiting.entries()

    def ledger(self) -> Ledger:
        """Compute the contents of ledger.md."""
        return ledger_from(
            self.protocol,
            sums_of(tuple(self.digests.values())),
            self.records,
            findings=self.findings,
            queue=self.queue(),
            conditions=self.conditions,
            template=self.template,
            blind=self.blind,
            rivals=self.rivals,
            hot_loops=self.hot_loops,
        )

    def with_records(self, records: Iterable[Record]) -> LedgerInputs:
        """Return a copy of this data that also holds new or changed `records`."""
        new = {each.id: each for each in records}
        return replace(
            self,
            digests={**self.digests, **{name: summary_of(each) for name, each in new.items()}},
            records={**self.records, **new},
            waiting=replace(self.waiting, records={**self.waiting.records, **new}),
        )

    def with_proposal(self, proposal: Proposal, ticket: Ticket) -> LedgerInputs:
        """Return a copy of this data with one more queued proposal."""
        filing = QueuedTicket(ticket=ticket, content=ticket.content)
        waiting, filings = self.waiting, {**self.waiting.filings, proposal.id: filing}
        return replace(self, waiting=replace(waiting, proposals=(*waiting.proposals, proposal), filings=filings))

    def with_tickets(self, tickets: Mapping[str, Ticket]) -> LedgerInputs:
        """Return a copy of this data in which some queued proposals (by id) have other tickets, i.e. priority or withdrawal."""
        filings = self.waiting.filings
        changed = {name: replace(filings[name], ticket=ticket) for name, ticket in tickets.items()}
        return replace(self, waiting=replace(self.waiting, filings={**filings, **changed}))
