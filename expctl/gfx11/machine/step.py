"""A decoded instruction."""

from collections.abc import Callable

from expctl.gfx11.machine.arrays import Anything
from expctl.gfx11.machine.wave import Wave

Run = Callable[[Wave], None]


def guarded(touched: frozenset[int], plain: Run, careful: Run) -> Run:
    """`plain` while none of the registers is dirty, `careful` otherwise: see Wave.dirty."""

    def run(wave: Wave) -> None:
        if wave.dirty.isdisjoint(touched):
            plain(wave)
        else:
            careful(wave)

    return run


def no_values(wave: Wave) -> tuple[Anything, ...]:  # noqa: ARG001  the signature of a reader
    """Of an instruction without sources."""
    return ()
