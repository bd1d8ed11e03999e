"""The gate (the check for foreign work before a measurement) as text for a terminal: what blocks it, and its sensors."""

from collections.abc import Iterable, Sequence

from expctl.domain.machine.interference import Foreign
from expctl.domain.text import one_line
from expctl.views.report import foreign_lines


def gate_lines(target: str, blocking: Sequence[Foreign], sensors: Iterable[tuple[str, str, str, str]]) -> list[str]:
    """Return the state of the gate for a target: a line for each process or device that blocks it, and one for each sensor.
    Each of `sensors` is (name, what it observes, why it can't work here or "", why the target doesn't use it or "").
    """
    head = f"{'blocked' if blocking else 'quiet'} for {one_line(target)}"
    return [head, *foreign_lines(blocking), "sensors", *(_line(*each) for each in sensors)]


def _line(name: str, says: str, absent: str, unused: str) -> str:
    state = f"not asked: {unused}" if unused else f"absent: {absent}" if absent else says
    return f"  {name:<10} {one_line(state, 200)}"
