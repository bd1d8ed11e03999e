"""Types of what `expctl doctor` finds about parts of the installation, each with the command that corrects it."""

from enum import StrEnum

from msgspec import Struct


class Health(StrEnum):
    """The state of one part of the installation: it works (OK), it works, but a setting costs speed or certainty (ADVICE), it
    doesn't work (WRONG), or NOTE, which is only information.
    """

    OK = "ok"
    NOTE = "note"
    ADVICE = "advice"
    WRONG = "wrong"


class Finding(Struct, frozen=True, kw_only=True):
    """One observation about a `part` of the installation. `mend` is the command or the edit that corrects a part that is WRONG
    or has ADVICE, else empty; `why` is the reason, where `what` doesn't say it.
    """

    part: str
    health: Health
    what: str
    mend: str = ""
    why: str = ""


def ok(part: str, what: str) -> Finding:
    """Return the finding that `part` works; `what` is the sentence shown to the user."""
    return Finding(part=part, health=Health.OK, what=what)


def note(part: str, what: str) -> Finding:
    """Return a finding with the information `what` about `part`; nothing needs to be corrected."""
    return Finding(part=part, health=Health.NOTE, what=what)


def wrong(part: str, what: str, mend: str) -> Finding:
    """Return the finding that `part` doesn't work; `what` says why, and `mend` is the command that corrects it."""
    return Finding(part=part, health=Health.WRONG, what=what, mend=mend)
