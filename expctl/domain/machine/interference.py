"""Interference with a measurement, as one sensor of the gate saw it."""

from __future__ import annotations

from msgspec import Struct


class Foreign(Struct, frozen=True, kw_only=True):
    """A process or state that blocks or disturbs measuring, as one sensor of the gate saw it.

    `what` is the text of the taint, without figures and pids; figures are in `detail`. `who` is the name of a process and its
    user (never its argv, which may hold tokens); `since` is a UTC time of day; `pid` is 0 where no process is to blame.
    """

    sensor: str
    what: str
    detail: str = ""
    pid: int = 0
    who: str = ""
    since: str = ""
