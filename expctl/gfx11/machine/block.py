"""Define a basic block: the decoded steps between two places where control can enter or leave."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from expctl.gfx11.machine.step import Run
from expctl.gfx11.machine.team import Team


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A basic block. `leave` executes its last instruction and returns the next block's index, BARRIER or END. `size` is its
    number of instructions, `work` what they take here (counts.py).
    """

    steps: tuple[Run, ...]
    together: tuple[Callable[[Team], None], ...]
    """The steps as they run once for all waves of a team."""
    leave: Callable[[Any], int]
    decided_by: frozenset[int] | None
    """Scalar registers that alone say where a wave continues, so that `leave` takes a team too where all waves have the same in
    them; None: more than these says it."""
    first: int
    """Index in the program of the block's first instruction."""
    size: int
    work: int
    last_line: int
