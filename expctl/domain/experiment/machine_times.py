"""The times of a record by state of the machine: the types, in record.json, of absolute figures."""

from typing import Annotated

from msgspec import Meta, Struct

Count = Annotated[int, Meta(ge=0)]


class SideTime(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The median time of one iteration of one side over its launches, in ns, with the 95 % interval of this median."""

    ns: float
    low_ns: float
    high_ns: float


class MachineState(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The times of both sides while the machine was in one state, and the effect there, in percent with its 95 % t interval.

    `rounds` are those in which both sides were in it for a tenth of their times at least; without any there is no effect, and
    with one no interval. The effect describes and decides nothing.
    """

    baseline: SideTime
    candidate: SideTime
    rounds: Count
    effect_percent: float | None = None
    low_percent: float | None = None
    high_percent: float | None = None


class TimesOfSize(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The times at one size by state of the machine, the fastest state first; mostly there is one.

    `mixed_rounds` are those that belong to more than one state, or to none because the two sides were in different ones.
    """

    size: str
    states: tuple[MachineState, ...]
    mixed_rounds: Count = 0

    @property
    def main(self) -> MachineState:
        """The state with the most rounds."""
        return max(self.states, key=lambda each: each.rounds)
