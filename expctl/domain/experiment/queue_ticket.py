"""queued.json, typed: what binds an id to what was proposed under it, and its place in the queue. Written by expctl only."""

import hashlib

from msgspec import Struct


class Ticket(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One queued proposal. `content` is `content_of` its two files when they were queued on the commit `base`.

    `by` is the proposer that made it, empty for a person. A larger `priority` runs earlier. `withdrawn` and `blocked` say why
    it is; `blocked_on` is the commit to which the change doesn't apply.
    """

    content: str
    base: str
    date: str
    by: str = ""
    priority: int = 0
    withdrawn: str = ""
    withdrawn_on: str = ""
    blocked: str = ""
    blocked_on: str = ""


class QueuedTicket(Struct, frozen=True, kw_only=True):
    """A proposal as it lies in a commit: its ticket (None: somebody committed it by hand, or it is `damaged`), and `content_of`
    what is there. `unfit` says why its change is none.
    """

    ticket: Ticket | None
    content: str
    unfit: str = ""
    damaged: bool = False

    @property
    def was_changed(self) -> bool:
        """Is it no longer what was queued?"""
        return self.ticket is not None and self.ticket.content != self.content


def content_of(proposal: bytes, patch: bytes) -> str:
    """The hash that an id is bound to: sha256 of experiment.yaml, a zero byte and change.patch."""
    return hashlib.sha256(proposal + b"\0" + patch).hexdigest()
