"""Everything that is on record at one commit, read once: what queue and ledger are functions of."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from expctl.domain.experiment import Proposal
from expctl.domain.ledger import Ledger, ledger_of
from expctl.domain.ports import Library
from expctl.domain.protocol import Protocol
from expctl.domain.queue import Entry, asked_profiles, line_up, waiting
from expctl.domain.record import Finding, Record
from expctl.domain.result import Profile
from expctl.domain.ticket import Filing, Ticket


@dataclass(frozen=True, slots=True, kw_only=True)
class Books:
    """What a commit holds. `filings` are of what waits, `profiles` of what a condition asks for."""

    protocol: Protocol
    proposals: tuple[Proposal, ...]
    records: tuple[Record, ...]
    findings: tuple[Finding, ...]
    filings: Mapping[str, Filing] = field(default_factory=dict)
    profiles: Mapping[str, Profile] = field(default_factory=dict)

    @staticmethod
    def open(library: Library, commit: str) -> "Books":
        """Read them. Raises Refused when something there is not well formed."""
        proposals, records = library.proposals(commit), library.records(commit)
        queued = waiting(proposals, records)
        return Books(
            protocol=library.protocol(commit),
            proposals=proposals,
            records=records,
            findings=library.findings(commit),
            filings=library.filings(commit, [each.id for each in queued]),
            profiles=library.profiles(commit, asked_profiles(queued)),
        )

    def queue(self) -> tuple[Entry, ...]:
        """What waits, in the order in which it runs."""
        return line_up(self.proposals, self.records, self.filings, self.profiles)

    def ledger(self) -> Ledger:
        """What the ledger says."""
        return ledger_of(self.protocol, self.proposals, self.records, self.findings, queue=self.queue())

    def with_record(self, record: Record, profile: Profile) -> "Books":
        """After an experiment was concluded, or replicated (then `profile` is empty: the first one stays)."""
        records = {each.id: each for each in self.records} | {record.id: record}
        profiles = {**self.profiles, record.id: profile} if profile else self.profiles
        return replace(self, records=tuple(records.values()), profiles=profiles)

    def with_proposal(self, proposal: Proposal, ticket: Ticket) -> "Books":
        """After one more was queued."""
        filing = Filing(ticket=ticket, content=ticket.content)
        return replace(self, proposals=(*self.proposals, proposal), filings={**self.filings, proposal.id: filing})

    def with_tickets(self, tickets: Mapping[str, Ticket]) -> "Books":
        """After some of what is queued got other tickets."""
        changed = {name: replace(self.filings[name], ticket=ticket) for name, ticket in tickets.items()}
        return replace(self, filings={**self.filings, **changed})
