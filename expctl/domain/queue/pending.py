"""The queue as it stands in a commit, and all that it is lined up from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct, field

from expctl.domain.queue.ordering import line_up

if TYPE_CHECKING:
    from expctl.domain.experiment.proposal import Proposal
    from expctl.domain.experiment.queue_ticket import QueuedTicket
    from expctl.domain.experiment.record import Record
    from expctl.domain.experiment.unreadable import Unreadable
    from expctl.domain.queue.dependency_answer import Profile
    from expctl.domain.queue.ordering import Entry


class Queue(Struct, frozen=True, kw_only=True):
    """What waits in a commit. `proposals` have no verdict about the idea, `filings` are theirs; `records` are those of them
    that ended INVALID, and those that a condition asks for, `profiles` likewise. What of it can't be read is `malformed`.
    """

    proposals: tuple[Proposal, ...]
    records: Mapping[str, Record] = field(default_factory=dict)
    filings: Mapping[str, QueuedTicket] = field(default_factory=dict)
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    malformed: tuple[Unreadable, ...] = ()

    def entries(self) -> tuple[Entry, ...]:
        """What waits, in the order in which it runs."""
        return line_up(self.proposals, tuple(self.records.values()), self.filings, self.profiles, self.malformed)
