"""The harness with one safeguard removed, or more: what each of them is there for."""

import contextlib
import random
import secrets
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any

from expctl.harness import clock_check
from kernel.harness import (
    input_stream,
    operands,
    process_audit,
    reference,
    sandbox_worker,
    supervisor,
    test_scaled_mm,
    timed_launch,
    timing,
)
from kernel.harness.build_proxy import InProcessHost

Patch = tuple[ModuleType | type, str, Any]


class Unsandboxed(InProcessHost):
    """Stand in for a Supervisor without a sandbox: the process that judges loads the build itself."""

    confinement, is_dead = "none", False

    def confine(self, target: str) -> None:
        """Nothing."""

    def go(self, words: bytes = b"") -> tuple[dict[str, Any], int]:
        """Launch what is armed. Return the answer and, as nobody looks from outside, the time that the build names, in ns."""
        answer = self.ask("go", words=words.decode())
        return answer, int(answer.get("ns", 0)) + 1

    def cpu_time_ns(self) -> int:
        """Nobody looks."""
        return 0

    def audit_process(self) -> None:
        """Nobody looks."""

    def end(self) -> None:
        """Nothing to end."""


def _the_same_draw(first: list[input_stream.Draw]) -> Callable[[input_stream.InputStream], input_stream.Draw]:
    real = input_stream.InputStream.draw

    def draw(self: input_stream.InputStream) -> input_stream.Draw:
        if not first:
            first.append(real(self))
        return first[0]

    return draw


def _only_a_is_fresh() -> Callable[[input_stream.InputStream], input_stream.Draw]:
    real = input_stream.InputStream.draw

    def draw(self: input_stream.InputStream) -> input_stream.Draw:
        drawn = real(self)
        return input_stream.Draw(a_at=drawn.a_at, b_at=0, bias_at=drawn.bias_at, scale=drawn.scale)

    return draw


def _nothing(*_: object, **__: object) -> None:
    return None


def _samples_nothing(self: timing.TimedSize, number: int, draw: input_stream.Draw) -> None:
    self._whole = draw, self._launcher.whole(number)  # the last output alone


def _samples_only(self: timing.TimedSize, number: int, draw: input_stream.Draw) -> None:
    _SAMPLE(self, number, draw)
    self._whole = None


_SAMPLE = timing.TimedSize._sample

SAFEGUARDS: dict[str, Callable[[], list[Patch]]] = {
    "the sandbox": lambda: [(supervisor, "prepared", Unsandboxed)],
    "fresh inputs": lambda: [
        (input_stream.InputStream, "draw", _the_same_draw([])),
        (test_scaled_mm, "stale_answer", _nothing),
    ],
    "a fresh B": lambda: [(input_stream.InputStream, "draw", _only_a_is_fresh())],
    "poison": lambda: [(operands.CpuOperands, "poison", _nothing), (reference, "POISON", 0), (timed_launch, "POISON", 0)],
    "sampled outputs": lambda: [(timing.TimedSize, "_sample", _samples_nothing)],
    "whole outputs": lambda: [
        (timing.TimedSize, "_sample", _samples_only),
        (secrets, "SystemRandom", lambda: random.Random(1)),  # samples that don't happen to meet the wrong element
    ],
    "inputs that are looked at again": lambda: [(operands.Operands, "check_inputs", _nothing)],
    "the clock check": lambda: [(clock_check.ClockCheck, "check", _nothing)],
    "the process audit": lambda: [(process_audit, "violation", lambda *_: "")],
    "forking": lambda: [(sandbox_worker, "forbid_processes", lambda: False)],
    "confinement": lambda: [
        (sandbox_worker, "confine", lambda *_: "not at all"),
        (sandbox_worker, "forbid_processes", lambda: False),
    ],
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
