"""A proposal together with its files, before any measurement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from expctl.domain.experiment.proposal import Proposal
    from expctl.domain.experiment.queue_ticket import Ticket


class Queued(Struct, frozen=True, kw_only=True):
    """A proposal on disk: its data, its patch, the hash of both (`content`), and the ticket that binds its id to that hash.
    `ticket` is None for a proposal that somebody committed by hand.
    """

    proposal: Proposal
    patch: bytes
    content: str
    ticket: Ticket | None = None


class Draft(Struct, frozen=True, kw_only=True):
    """A proposal that is not committed yet: the parsed experiment.yaml, its text, and the patch."""

    proposal: Proposal
    text: bytes
    patch: bytes
