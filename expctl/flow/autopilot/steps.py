"""What `run --all` tells its caller, step by step."""

from dataclasses import dataclass

from expctl.domain.errors import Refused
from expctl.domain.queue.ordering import State
from expctl.flow.autopilot.blind_slot import BlindOutcome
from expctl.flow.autopilot.campaign import WentBeside
from expctl.flow.queue.edit_queue import Rebased
from expctl.flow.queue.submit import Proposed
from expctl.flow.run.experiment import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A queued experiment that `run --all` did not run, its state in the queue, and why."""

    id: str
    state: State
    refusal: Refused


@dataclass(frozen=True, slots=True, kw_only=True)
class NothingProposed:
    """The proposer was asked but nothing could be queued: `refusal` says why; `fault` is True if its command failed."""

    refusal: Refused
    fault: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepFinished:
    """The proposer has nothing more to propose; `why` is a sentence for the user."""

    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The last step of `run --all`; `why` says why it ended, in a sentence for the user. If what it found is on a branch beside
    the user's, `bring_home` is the command that merges it.
    """

    why: str
    bring_home: str = ""


Step = Outcome | BlindOutcome | Skipped | Rebased | Proposed | NothingProposed | WentBeside | Ended
