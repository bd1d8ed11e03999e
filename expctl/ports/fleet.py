"""Interface to the engine of a fleet: it knows which devices there are, gives them work, and brings back what they say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol as Port

from msgspec import Struct

from expctl.domain.fleet.device import Device
from expctl.domain.fleet.events import Judged
from expctl.domain.run.events import Event


class Job(Struct, frozen=True, kw_only=True):
    """What a device is asked to do on the commit `base` of `branch`: to judge the experiment `id`, or, if that is "", to say
    what it offers. `pack` names the objects of git that it may lack in its clone of `repository`. `events` are those of the
    same attempt so far. `again`: the experiment is measured once more as evidence. `kept_by`: see Begun.
    """

    repository: str
    base: str
    branch: str
    pack: str
    id: str = ""
    attempt: int = 0
    target: str = ""
    device: str = ""
    events: tuple[Event, ...] = ()
    again: bool = False
    kept_by: str = ""


class Present(Struct, frozen=True, kw_only=True):
    """The engine has found a device; it was not asked yet what it offers. Heard again when its worker has started anew."""

    device: str
    found: Device
    worker: str


class Offered(Struct, frozen=True, kw_only=True):
    """A device can time `target`; `conditions` are what must be equal for figures to be comparable, by name."""

    device: str
    target: str
    conditions: Mapping[str, str]


class Beat(Struct, frozen=True, kw_only=True):
    """A device is alive and works."""

    device: str


class Told(Struct, frozen=True, kw_only=True):
    """An attempt has an event more. `number` counts the events of the attempt from 0."""

    device: str
    id: str
    attempt: int
    number: int
    event: Event


class Finished(Struct, frozen=True, kw_only=True):
    """An attempt has all that its verdict needs."""

    device: str
    id: str
    attempt: int
    judged: Judged


class Stumbled(Struct, frozen=True, kw_only=True):
    """A job ended with an error. `kind` is the class of the error: Refused, Busy, MachineTrouble, ControlFailed or a bug."""

    device: str
    id: str
    attempt: int
    kind: str
    message: str
    code: str = ""
    expected: str = ""
    found: str = ""
    where: str = ""
    hint: str = ""


class Lost(Struct, frozen=True, kw_only=True):
    """A device is gone, with what it was doing."""

    device: str
    why: str


Heard = Present | Offered | Beat | Told | Finished | Stumbled | Lost


class Engine(Port):
    """Gives jobs to devices. A device does one job at a time; what it says comes back through `heard`, in order."""

    def start(self, device: str, job: Job, pack: bytes) -> None: ...
    def heard(self, timeout_s: float) -> tuple[Heard, ...]: ...


class Packs(Port):
    """Makes packs of git's objects: what `commit` needs, without what `known` has ("": with everything)."""

    def name(self, commit: str, known: str) -> str: ...
    def bytes(self, commit: str, known: str) -> bytes: ...
