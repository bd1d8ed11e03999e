"""What the schedule of a fleet knows of one experiment."""

from dataclasses import dataclass
from enum import Enum, auto


class State(Enum):
    """Where an experiment stands."""

    WAITS = auto()
    RUNS = auto()
    JUDGED = auto()


@dataclass(slots=True)
class Entry:
    """An experiment, or a confirmation of one, in the queue of a fleet."""

    id: str
    place: int
    attempt: int = 0
    state: State = State.WAITS
    device: str = ""
    beside: str = ""
    keep: bool = False
    again: bool = False
    unlike: str = ""  # of a confirmation: the device that has judged the KEEP
    needs_second: bool = False
    answered: bool = False  # by a second device, beside the same kernel
