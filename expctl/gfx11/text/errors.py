"""Errors that stop an interpretation. Mistakes of the kernel itself don't: they are returned as data (machine/faults.py)."""

from typing import Any

from expctl.domain.errors import Refused


class Unsupported(Refused):
    """Raised for an opcode, operand, modifier or directive that is not implemented, in line `line` (from 1) of the assembly."""

    def __init__(self, why: str, *, line: int, text: str) -> None:
        super().__init__(
            f"the gfx11 interpreter can't run this assembly: {why}",
            code="assembly-not-supported",
            expected="an instruction, operand, modifier or directive that the interpreter implements (docs/GFX11.md)",
            found=text.strip(),
            where=f"line {line} of the assembly",
            hint="compile without the code that this line comes from, or implement it in expctl/gfx11",
        )
        self.line = line


class BadLaunch(Refused):
    """Raised if a launch doesn't fit the kernel: a wrong argument, block size or symbol."""


class Runaway(Refused):
    """Raised if a workgroup does more work than the launch allows."""

    faults: tuple[Any, ...] = ()
    """The faults (machine/faults.py) that were found up to then."""
