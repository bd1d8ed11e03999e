"""What disturbs a measurement on this machine, as one sensor of the gate saw it."""

from __future__ import annotations

from msgspec import Struct


class Foreign(Struct, frozen=True, kw_only=True):
    """Something that blocks or disturbs measuring, as one sensor of the gate saw it.

    `what` is a taint, so it holds no figure and no pid; figures stand in `detail`. `who` is the name of a process and its
    user (never argv: tokens leak); `since` is a time of day in UTC. `pid` is 0 where nobody is to blame.
    """

    sensor: str
    what: str
    detail: str = ""
    pid: int = 0
    who: str = ""
    since: str = ""
