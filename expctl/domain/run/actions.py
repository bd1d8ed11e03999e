"""The actions that a run can take next."""

from msgspec import Struct

from expctl.domain.verdict.samples import Session, Side
from expctl.domain.verdict.sequential_test import Decision


class Pin(Struct, frozen=True):
    """Commit the candidate (baseline plus patch) under a ref of expctl, before anything is built."""


class Build(Struct, frozen=True):
    """Build baseline or candidate for one target."""

    side: Side
    target: str


class Test(Struct, frozen=True):
    """Test the candidate's build for one target."""

    target: str


class Measure(Struct, frozen=True):
    """Measure one round of the search or of the confirmation. Each of these sessions begins with fresh worktrees and a new
    lock. `left` is the number of rounds until the next look, this one included.
    """

    round: int
    session: Session = Session.SEARCH
    left: int = 1


class Profile(Struct, frozen=True):
    """Profile the build of baseline or candidate for one target."""

    side: Side
    target: str


class Settle(Struct, frozen=True):
    """Write record and ledger, commit them, and move the branch."""

    decision: Decision


class Nothing(Struct, frozen=True):
    """Do nothing, because the run has ended."""


Action = Pin | Build | Test | Measure | Profile | Settle | Nothing
