"""Foreign load that disturbs a measurement."""

from msgspec import Struct


class Foreign(Struct, frozen=True, kw_only=True):
    """A process or state that blocks or disturbs measuring, as found by one sensor, e.g. for CPU load or a busy GPU.

    `what` is its description without figures and pids, `detail` has the figures. `who` is the name of a process and its user
    (never its arguments, which may hold tokens); `since` is a UTC time of day; `pid` is 0 where no process is to blame.
    """

    sensor: str
    what: str
    detail: str = ""
    pid: int = 0
    who: str = ""
    since: str = ""
