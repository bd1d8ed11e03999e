"""Straight-line code: the decoded steps between two places where control can come or go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from expctl.gfx11.machine.step import Run
from expctl.gfx11.machine.wave import Wave


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """`leave` gives the index of the next block, BARRIER or END."""

    steps: tuple[Run, ...]
    leave: Callable[[Wave], int]
    first: int
    """Index of its first instruction in the program."""
    size: int
    last_line: int
