"""What can be done next in a run."""

from dataclasses import dataclass

from expctl.domain.verdict.samples import Session, Side
from expctl.domain.verdict.sequential_test import Decision


@dataclass(frozen=True, slots=True)
class Pin:
    """Make the candidate commit."""


@dataclass(frozen=True, slots=True)
class Build:
    """Build one side for one target."""

    side: Side
    target: str


@dataclass(frozen=True, slots=True)
class Test:
    """Test the candidate's build for one target."""

    target: str


@dataclass(frozen=True, slots=True)
class Measure:
    """Measure one round of a session. A new session is a new bench: other check-outs, the machine's lock taken anew.

    `left` rounds, this one included, are missing to the next look.
    """

    round: int
    session: Session = Session.SEARCH
    left: int = 1


@dataclass(frozen=True, slots=True)
class Profile:
    """Profile one side's build for one target."""

    side: Side
    target: str


@dataclass(frozen=True, slots=True)
class Settle:
    """Write record and ledger, commit, move the branch."""

    decision: Decision


@dataclass(frozen=True, slots=True)
class Nothing:
    """The run is settled."""


Action = Pin | Build | Test | Measure | Profile | Settle | Nothing
