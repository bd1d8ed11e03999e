"""The queue of one commit, and the data from which it is computed."""

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
    """The waiting proposals of one commit, with their tickets by id (`filings`), which hold priority and withdrawal.

    `records` are the results needed to order them: INVALID runs of waiting proposals, and experiments that a `depends_on`
    names. `profiles` are those of such experiments, if a condition asks for a profile. `malformed` are proposals that can't be
    read.
    """

    proposals: tuple[Proposal, ...]
    records: Mapping[str, Record] = field(default_factory=dict)
    filings: Mapping[str, QueuedTicket] = field(default_factory=dict)
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    malformed: tuple[Unreadable, ...] = ()

    def entries(self) -> tuple[Entry, ...]:
        """Return the proposals with their states, in the order in which they will run."""
        return line_up(self.proposals, tuple(self.records.values()), self.filings, self.profiles, self.malformed)
