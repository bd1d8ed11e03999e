"""Types for foreign work that disturbs a measurement; which states of the machine the timed build itself may bring about."""

from msgspec import Struct

# Words of the sensors of clock and temperature: `the CPU is throttled by heat`, `nvidia 0 is hot`.
THROTTLED_BY = "is throttled by"
IS_HOT = "is hot"
BELOW_ITS_CLOCK = "runs below its clock"


def may_be_own_doing(what: str) -> bool:
    """Return whether `what` is a state (heat, throttling, low clock) that the timed build itself may have brought about."""
    return what.endswith((f" {IS_HOT}", f" {BELOW_ITS_CLOCK}")) or f" {THROTTLED_BY} " in what


class Foreign(Struct, frozen=True, kw_only=True):
    """A process or state of the machine that blocks or disturbs measuring, as one sensor found it, e.g. a busy GPU.

    `what` is its description without figures and pids, `detail` has the figures. `who` is the name of a process and its user
    (never its arguments, which may hold secrets); `since` is a UTC time; `pid` is 0 if no process causes it.
    """

    sensor: str
    what: str
    detail: str = ""
    pid: int = 0
    who: str = ""
    since: str = ""
