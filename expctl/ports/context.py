"""All interfaces and functions by which commands reach the outside, passed as one value. Tests build it from fakes."""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from expctl.domain.experiment.queue_ticket import Ticket
from expctl.domain.experiment.record import Fact, Record
from expctl.domain.experiment.rivals import Rivals
from expctl.domain.history.blind import BlindSlot
from expctl.domain.ledger.model import Ledger
from expctl.domain.machine.walls import Walls
from expctl.domain.protocol.model import Protocol, Target
from expctl.domain.verdict.samples import Sample
from expctl.ports.measuring import Calibrations, Clock, Controls, Durations, Gate, Profiles, Progress, Steps, Toolchains
from expctl.ports.repository import Journal, Library, Locks, Workspace
from expctl.ports.rules import Rulebook


class Tools(Struct, frozen=True, kw_only=True):
    """Interfaces for building and measuring, made for the protocol.yaml of one commit. `settings` returns facts of the
    environment in which a target is measured: cards, Linux, variables.
    """

    toolchains: Toolchains
    steps: Steps
    profiles: Profiles
    gate: Gate
    settings: Callable[[Target], Mapping[str, str]]


class Context(Struct, frozen=True, kw_only=True):
    """All interfaces to the outside, and functions that encode values as bytes or text. `gaps` are sentences on what can't be
    forbidden to child processes on this machine; `walls` returns the result of the self-test of what can. `device` is the
    device of a fleet whose measurements these are, "" for this machine's own.
    """

    workspace: Workspace
    library: Library
    rulebook: Rulebook
    journal: Journal
    locks: Locks
    clock: Clock
    progress: Progress
    calibrations: Calibrations
    controls: Controls
    durations: Durations
    machine: Mapping[str, str]
    tools_for: Callable[[Protocol, str], Tools]
    seen_from: Callable[[str], Workspace]
    end_survivors: Callable[[], int]
    stop_requested: Callable[[], bool]
    record_bytes: Callable[[Record], bytes]
    samples_bytes: Callable[[Sequence[Sample]], bytes]
    blind_bytes: Callable[[BlindSlot], bytes]
    rivals_bytes: Callable[[Rivals], bytes]
    profile_bytes: Callable[[Mapping[str, Sequence[Fact]]], bytes]
    ticket_bytes: Callable[[Ticket], bytes]
    render: Callable[[Ledger], str]
    gaps: tuple[str, ...] = ()
    walls: Callable[[], Walls] = Walls
    device: str = ""
