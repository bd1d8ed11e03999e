"""The harness with one safeguard removed, or more: what each of them is there for."""

import contextlib
import random
import secrets
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any

from kernel.harness import cell, conduct, fresh, meter, operands, reference, rig, test_scaled_mm, timing, warden
from kernel.harness.held import Unguarded

Patch = tuple[ModuleType | type, str, Any]


class Open(Unguarded):
    """A warden without a cell: the build is loaded by the process that judges it."""

    held, is_dead = "not at all", False

    def confine(self, target: str) -> None:
        """Nothing."""

    def go(self, words: bytes = b"") -> tuple[dict[str, Any], int]:
        """As a warden does, but for the outside."""
        answer = self.ask("go", words=words.decode())
        return answer, int(answer.get("ns", 0)) + 1

    def charged_ns(self) -> int:
        """Nobody looks."""
        return 0

    def judge_conduct(self) -> None:
        """Nobody looks."""

    def end(self) -> None:
        """Nothing to end."""


def _the_same_draw(first: list[fresh.Draw]) -> Callable[[fresh.FreshInputs], fresh.Draw]:
    real = fresh.FreshInputs.draw

    def draw(self: fresh.FreshInputs) -> fresh.Draw:
        if not first:
            first.append(real(self))
        return first[0]

    return draw


def _only_a_is_fresh() -> Callable[[fresh.FreshInputs], fresh.Draw]:
    real = fresh.FreshInputs.draw

    def draw(self: fresh.FreshInputs) -> fresh.Draw:
        drawn = real(self)
        return fresh.Draw(a_at=drawn.a_at, b_at=0, bias_at=drawn.bias_at, scale=drawn.scale)

    return draw


def _nothing(*_: object, **__: object) -> None:
    return None


def _looks_at_nothing(self: timing.TimedSize, number: int, draw: fresh.Draw) -> None:
    self._whole = draw, self._rig.whole(number)  # the last output alone


def _looks_at_spots(self: timing.TimedSize, number: int, draw: fresh.Draw) -> None:
    _LOOK(self, number, draw)
    self._whole = None


_LOOK = timing.TimedSize._look

SAFEGUARDS: dict[str, Callable[[], list[Patch]]] = {
    "the cell": lambda: [(warden, "prepared", Open)],
    "fresh inputs": lambda: [(fresh.FreshInputs, "draw", _the_same_draw([])), (test_scaled_mm, "stale_answer", _nothing)],
    "a fresh B": lambda: [(fresh.FreshInputs, "draw", _only_a_is_fresh())],
    "poison": lambda: [(operands.CpuOperands, "poison", _nothing), (reference, "POISON", 0), (rig, "POISON", 0)],
    "spots": lambda: [(timing.TimedSize, "_look", _looks_at_nothing)],
    "whole outputs": lambda: [
        (timing.TimedSize, "_look", _looks_at_spots),
        (secrets, "SystemRandom", lambda: random.Random(1)),  # spots that don't happen to meet the wrong element
    ],
    "inputs that are looked at again": lambda: [(operands.Operands, "check_inputs", _nothing)],
    "the meter": lambda: [(meter.Account, "settle", _nothing)],
    "conduct": lambda: [(conduct, "misconduct", lambda *_: "")],
    "forking": lambda: [(cell, "forbid_processes", lambda: False)],
    "confinement": lambda: [(cell, "confine", lambda *_: "not at all"), (cell, "forbid_processes", lambda: False)],
}


@contextlib.contextmanager
def without(names: Sequence[str]) -> Iterator[None]:
    """The harness of this process, less these."""
    patches = [patch for name in names for patch in SAFEGUARDS[name]()]
    kept = [(owner, name, getattr(owner, name)) for owner, name, _ in patches]
    try:
        for owner, name, instead in patches:
            setattr(owner, name, instead)
        yield
    finally:
        for owner, name, real in kept:
            setattr(owner, name, real)
