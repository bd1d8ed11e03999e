"""A case that is more than operands and results: memory, lanes, control. It says itself what its definition wants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from expctl.gfx11.machine.wave import Wave


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedure:
    """`check` runs `text` (or is about it) and asserts."""

    opcode: str
    text: str
    check: Callable[[], None]

    def __str__(self) -> str:
        return self.text


def registers(wave: Wave, first: int, count: int, lane: int) -> bytes:
    """Of one lane, little-endian."""
    return b"".join(int(wave.u32[first + i][lane]).to_bytes(4, "little") for i in range(count))


def kinds(wave: Wave) -> list[str]:
    return [fault.kind.value for fault in wave.group.faults.all()]
