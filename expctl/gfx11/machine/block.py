"""Define a basic block: the decoded steps between two places where control can enter or leave."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from expctl.gfx11.machine.step import Run
from expctl.gfx11.machine.wave import Wave


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A basic block. `leave` executes its last instruction and returns the next block's index, BARRIER or END. `size` is its
    number of instructions, `work` what they take here (counts.py).
    """

    steps: tuple[Run, ...]
    leave: Callable[[Wave], int]
    first: int
    """Index in the program of the block's first instruction."""
    size: int
    work: int
    last_line: int
