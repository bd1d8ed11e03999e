"""The type of a decoded instruction (a function that executes it on a wave), and a helper to build one."""

from collections.abc import Callable

from expctl.gfx11.machine.wave import Wave

Run = Callable[[Wave], None]


def guarded(touched: frozenset[int], plain: Run, careful: Run) -> Run:
    """Return a function that executes an instruction by calling `plain` in the common case, `careful` otherwise. `touched` are
    the keys of its registers. `careful` is called if one of them is in Wave.dirty: it has undefined bits or a load under way.
    """

    def run(wave: Wave) -> None:
        if wave.dirty.isdisjoint(touched):
            plain(wave)
        else:
            careful(wave)

    return run
