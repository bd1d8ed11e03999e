"""What the self-test of the walls found: which forbidden acts were stopped in a child that is confined as a candidate is."""

import hashlib
import json
from enum import StrEnum

from msgspec import Struct

HASH_LETTERS = 12
NAMED_MAX = 6
WALLS_OPEN = "WALLS OPEN"  # how the flag of a record begins


class Outcome(StrEnum):
    """How an attempt ended: STOPPED; OPEN, so a candidate can do it too; ABSENT, because this machine lacks what it acts on."""

    STOPPED = "stopped"
    OPEN = "open"
    ABSENT = "absent"


class Attempt(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One forbidden act, e.g. `overwrites a file`. `how` is the kernel's error, or what was seen from outside; `by` names what
    stops the act on a kernel that has it, each alone being enough.
    """

    act: str
    outcome: Outcome
    how: str
    by: tuple[str, ...]


class Walls(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The result of the self-test: all attempts, and what the kernel offers to confine a child (`confinement`). Without
    attempts it says that there was none.
    """

    confinement: str = ""
    attempts: tuple[Attempt, ...] = ()

    @property
    def open(self) -> tuple[Attempt, ...]:
        """Return the attempts that nothing stopped."""
        return tuple(each for each in self.attempts if each.outcome is Outcome.OPEN)

    @property
    def digest(self) -> str:
        """Return 12 hex digits that hash the confinement, and the outcome of each act."""
        found = [self.confinement, sorted((each.act, each.outcome.value) for each in self.attempts)]
        return hashlib.sha256(json.dumps(found).encode()).hexdigest()[:HASH_LETTERS]

    @property
    def flag(self) -> str:
        """Return the sentence that stands in record and ledger if anything is open; else ""."""
        if not self.open:
            return ""
        names = [each.act for each in self.open]
        more = f" and {len(names) - NAMED_MAX} more" if len(names) > NAMED_MAX else ""
        return f"{WALLS_OPEN}: {len(names)} of {self.tried} acts not stopped: {', '.join(names[:NAMED_MAX])}{more}"

    def flags(self) -> tuple[str, ...]:
        """Return the flag of a record whose launches could do more than they may; () if nothing is open."""
        return (self.flag,) if self.open else ()

    @property
    def tried(self) -> int:
        """Return the number of acts that this machine has anything for."""
        return sum(each.outcome is not Outcome.ABSENT for each in self.attempts)

    def words(self) -> str:
        """Return the result in words, e.g. `77 of 77 acts stopped (3f2a91c04d17)`."""
        return f"{self.tried - len(self.open)} of {self.tried} acts stopped ({self.digest})"

    def facts(self) -> dict[str, str]:
        """Return what the environment of a record says of the result; nothing without a self-test."""
        return {"walls": self.words()} if self.attempts else {}
