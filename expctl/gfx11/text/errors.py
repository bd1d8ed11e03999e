"""Errors that stop an interpretation. Mistakes of the kernel itself are returned as data (machine/faults.py)."""

from expctl.domain.errors import Refused


class Unsupported(Refused):
    """An opcode, operand, modifier or directive is not implemented. It is never skipped. `line` counts from 1."""

    def __init__(self, why: str, *, line: int, text: str) -> None:
        super().__init__(
            f"gfx11 interpreter: {why}",
            code="assembly-not-supported",
            found=text.strip(),
            where=f"line {line} of the assembly",
            hint="correct that line, compile without what emits it, or add the instruction to expctl/gfx11",
        )
        self.line = line


class BadLaunch(Refused):
    """The launch doesn't fit the kernel: a wrong argument, block size or symbol."""


class Runaway(Refused):
    """A wave ran more instructions than it was allowed."""
