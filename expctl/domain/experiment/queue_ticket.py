"""The types of queued.json, which expctl writes for each queued proposal: hash of its files, priority, withdrawal."""

import hashlib

from msgspec import Struct

PRIORITY_MAX = 1_000_000  # and its negative is the smallest


class Ticket(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The queue entry of a proposal. `content` is the hash of its files when it was queued, on the commit `base`.

    `by` is the proposer that made it, "" for a person. `author` is who thought of it, as git writes it (`Ada <ada@b.org>`): the
    author of the commit that a KEEP lands; "" if git knew nobody. A larger `priority` runs earlier. `withdrawn` is the reason
    for taking it out of the queue; `blocked` is the reason why its patch doesn't apply to the commit `blocked_on`; both are ""
    otherwise.
    """

    content: str
    base: str
    date: str
    by: str = ""
    author: str = ""
    priority: int = 0
    withdrawn: str = ""
    withdrawn_on: str = ""
    blocked: str = ""
    blocked_on: str = ""


class QueuedTicket(Struct, frozen=True, kw_only=True):
    """A proposal's ticket in one commit, and the hash of the proposal's files in that commit (`content`). `ticket` is None for
    a proposal committed by hand, or if the ticket is `damaged`. `unfit` says why change.patch is not a patch; "" if it is one.
    """

    ticket: Ticket | None
    content: str
    unfit: str = ""
    damaged: bool = False

    @property
    def was_changed(self) -> bool:
        """Were the proposal's files edited after it was queued?"""
        return self.ticket is not None and self.ticket.content != self.content


def content_of(proposal: bytes, patch: bytes) -> str:
    """Return the hash that identifies a proposal: sha256 of experiment.yaml, a zero byte and change.patch."""
    return hashlib.sha256(proposal + b"\0" + patch).hexdigest()
