"""What can be done next in a run."""

from msgspec import Struct

from expctl.domain.verdict.samples import Session, Side
from expctl.domain.verdict.sequential_test import Decision


class Pin(Struct, frozen=True):
    """Make the candidate commit."""


class Build(Struct, frozen=True):
    """Build one side for one target."""

    side: Side
    target: str


class Test(Struct, frozen=True):
    """Test the candidate's build for one target."""

    target: str


class Measure(Struct, frozen=True):
    """Measure one round of a session. A new session is a new bench: other check-outs, the machine's lock taken anew.

    `left` rounds, this one included, are missing to the next look.
    """

    round: int
    session: Session = Session.SEARCH
    left: int = 1


class Profile(Struct, frozen=True):
    """Profile one side's build for one target."""

    side: Side
    target: str


class Settle(Struct, frozen=True):
    """Write record and ledger, commit, move the branch."""

    decision: Decision


class Nothing(Struct, frozen=True):
    """The run is settled."""


Action = Pin | Build | Test | Measure | Profile | Settle | Nothing
