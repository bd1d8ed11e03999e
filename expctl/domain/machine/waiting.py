"""What a wait for the machine's lock, or for a quiet machine, waits for; in words, and what to do where it never ends."""

from collections.abc import Sequence

from msgspec import Struct

from expctl.domain.machine.interference import Foreign
from expctl.domain.text import one_line

WAYS_OUT = {
    "cpu": "if the machine is never quiet, raise gate.others_percent in protocol.yaml (0: don't look) and commit that; rounds "
    "are paired, so load costs rounds, not truth; expctl calibrate then says which effect can be told here (docs/GATE.md)",
    "process": "if it leaves the timed core alone, take its name out of gate.patterns in protocol.yaml, commit (docs/GATE.md)",
    "device": "if it leaves the card alone, list it in gate.idle_holders in protocol.yaml and commit (docs/GATE.md)",
}


class Load(Struct, frozen=True, kw_only=True):
    """A process of others and the share of one core that it takes, in percent (above 100 with several threads)."""

    name: str
    pid: int
    user: str
    percent: float


class Wait(Struct, frozen=True, kw_only=True):
    """A wait under way: `waited_s` of at most `at_most_s` seconds for `what`. `foreign` blocks now; if it is empty, the machine
    has been quiet for `quiet_s` of `wanted_s` seconds. `busiest` are the processes that take the most CPU time.
    """

    what: str
    waited_s: float
    at_most_s: float
    foreign: tuple[Foreign, ...] = ()
    busiest: tuple[Load, ...] = ()
    quiet_s: float = 0.0
    wanted_s: float = 0.0


def wait_texts(wait: Wait) -> tuple[str, ...]:
    """Return a wait in words, the longest wording first: with pid and user of three processes, with names alone, of one.

    E.g. `waiting 23 of 60 s for a quiet machine: zig (pid 411, ada) 97 % of a core`.
    """
    head = f"waiting {wait.waited_s:.0f} of {wait.at_most_s:.0f} s for {wait.what}"
    if not wait.foreign:
        return (f"{head}: quiet for {wait.quiet_s:.1f} of {wait.wanted_s:g} s",)
    others = [each for each in wait.foreign if each.sensor != "cpu"]
    if not others and wait.busiest:
        return tuple(f"{head}: {each}" for each in busiest_texts(wait.busiest))
    whole = [": ".join(one_line(part, 60) for part in (each.what, each.detail, each.who) if part) for each in wait.foreign]
    short = [one_line(each.who or each.what, 60) for each in others or wait.foreign]
    return (f"{head}: {'; '.join(whole)}", f"{head}: {'; '.join(short)}", f"{head}: {short[0]}")


def busiest_texts(busiest: Sequence[Load]) -> tuple[str, ...]:
    """Return the processes that take the most CPU time in words, the longest wording first; empty without any."""
    if not busiest:
        return ()
    whole = [f"{one_line(each.name, 40)} (pid {each.pid}, {one_line(each.user, 20)}) {each.percent:.0f} %" for each in busiest]
    short = [f"{one_line(each.name, 20)} {each.percent:.0f} %" for each in busiest]
    return (f"{', '.join(whole)} of a core", ", ".join(short), f"{whole[0]} of a core", short[0])


def way_out(foreign: Sequence[Foreign]) -> str:
    """Return what to do on a machine where `foreign` never ends; empty if nothing but waiting helps."""
    sensors = {each.sensor for each in foreign}
    return next((words for sensor, words in WAYS_OUT.items() if sensor in sensors), "")
