"""What `expctl doctor` finds: parts that are sound, and parts that are not, each with the command that mends it."""

from enum import StrEnum

from msgspec import Struct


class Health(StrEnum):
    """`NOTE` is worth knowing and needs no mending."""

    OK = "ok"
    NOTE = "note"
    WRONG = "wrong"


class Finding(Struct, frozen=True, kw_only=True):
    """One thing seen of one part. `mend` is what to type; only what is wrong has one."""

    part: str
    health: Health
    what: str
    mend: str = ""


def ok(part: str, what: str) -> Finding:
    """Nothing to do."""
    return Finding(part=part, health=Health.OK, what=what)


def note(part: str, what: str) -> Finding:
    """Nothing to do, but to know."""
    return Finding(part=part, health=Health.NOTE, what=what)


def wrong(part: str, what: str, mend: str) -> Finding:
    """Something to mend."""
    return Finding(part=part, health=Health.WRONG, what=what, mend=mend)
