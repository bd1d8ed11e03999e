"""What the head writes down of an attempt, beside the events of its run. Each is one line of the attempt's journal."""

from collections.abc import Mapping

from msgspec import Struct

from expctl.domain.machine.walls import Walls


class Assigned(Struct, frozen=True, kw_only=True):
    """An attempt at an experiment was given to a device of class `kind` on the worker `worker`, beside the commit `base`.

    `kernel` identifies the sources of that commit. `alone` says how the experiment was judged beside an older kernel, and
    `after` are the experiments whose KEEPs have changed the kernel since; both empty for one that was not. `kept_by`: by which
    gain it was kept there, if it was (Begun.kept_by). `confirms`, if not empty, is the device whose KEEP is measured once more.
    """

    id: str
    attempt: int
    device: str
    kind: str
    worker: str
    base: str
    kernel: str
    alone: str = ""
    after: tuple[str, ...] = ()
    confirms: str = ""
    kept_by: str = ""


class Judged(Struct, frozen=True, kw_only=True):
    """The device has measured all that the verdict needs. `facts` is the environment in which it did, `walls` what the
    self-test on that machine has found.
    """

    facts: Mapping[str, str]
    walls: Walls


class GivenUp(Struct, frozen=True, kw_only=True):
    """The attempt counts no more; what comes after this line came late, and is evidence only."""

    why: str


FleetEvent = Assigned | Judged | GivenUp
