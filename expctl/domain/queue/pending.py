"""The queue of one commit, and the values it is computed from."""

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
    """The pending proposals of one commit, and by id their tickets (`filings`).

    `records` are those of pending proposals that ended INVALID, and those that `depends_on` conditions need; `profiles` are the
    ones that conditions need. `malformed` are unreadable proposals.
    """

    proposals: tuple[Proposal, ...]
    records: Mapping[str, Record] = field(default_factory=dict)
    filings: Mapping[str, QueuedTicket] = field(default_factory=dict)
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    malformed: tuple[Unreadable, ...] = ()

    def entries(self) -> tuple[Entry, ...]:
        """Return the queue in the order in which it runs."""
        return line_up(self.proposals, tuple(self.records.values()), self.filings, self.profiles, self.malformed)
