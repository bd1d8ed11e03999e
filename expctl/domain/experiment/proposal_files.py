"""A proposal as files: what lies on disk or was drafted, before anything of it is measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from expctl.domain.experiment.proposal import Proposal
    from expctl.domain.experiment.queue_ticket import Ticket


class Queued(Struct, frozen=True, kw_only=True):
    """An experiment on disk: its typed proposal, its patch, the hash of both, and the ticket that binds the id to that hash.

    Without a ticket somebody committed it by hand.
    """

    proposal: Proposal
    patch: bytes
    content: str
    ticket: Ticket | None = None


class Draft(Struct, frozen=True, kw_only=True):
    """What a proposer made: experiment.yaml, typed and as it was written, and the patch. Nothing of it is committed yet."""

    proposal: Proposal
    text: bytes
    patch: bytes
