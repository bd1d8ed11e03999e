"""The type of a decoded instruction, a function that executes it on a wave, and helpers to build one."""

from collections.abc import Callable

from expctl.gfx11.machine.wave import Wave

Run = Callable[[Wave], None]


def guarded(touched: frozenset[int], plain: Run, careful: Run) -> Run:
    """Return a function that executes an instruction by `plain`, or by `careful` if a register whose key is in `touched`
    has undefined bits or a load under way (is in Wave.dirty)."""

    def run(wave: Wave) -> None:
        if wave.dirty.isdisjoint(touched):
            plain(wave)
        else:
            careful(wave)

    return run
