"""The actions that a run can take next."""

from msgspec import Struct

from expctl.domain.verdict.samples import Session, Side
from expctl.domain.verdict.sequential_test import Decision


class Pin(Struct, frozen=True):
    """Create the candidate commit."""


class Build(Struct, frozen=True):
    """Build one side for one target."""

    side: Side
    target: str


class Test(Struct, frozen=True):
    """Test the candidate's build for one target."""

    target: str


class Measure(Struct, frozen=True):
    """Measure one round of a session; a new session has new check-outs and takes the machine's lock again.

    `left` counts the rounds until the next look, this one included.
    """

    round: int
    session: Session = Session.SEARCH
    left: int = 1


class Profile(Struct, frozen=True):
    """Profile the build of one side for one target."""

    side: Side
    target: str


class Settle(Struct, frozen=True):
    """Write record and ledger, commit them, and move the branch."""

    decision: Decision


class Nothing(Struct, frozen=True):
    """Do nothing: the run is settled."""


Action = Pin | Build | Test | Measure | Profile | Settle | Nothing
