"""The gate as text for a terminal: what blocks it, and the state of each sensor."""

from collections.abc import Iterable, Sequence

from expctl.domain.machine.interference import Foreign
from expctl.domain.text import one_line
from expctl.views.report import foreign_lines


def gate_lines(target: str, blocking: Sequence[Foreign], sensors: Iterable[tuple[str, str, str, str]]) -> list[str]:
    """Return a heading, a line for each process or device that blocks a measurement, and one for each sensor.

    A sensor is (name, what it observes, why it is absent or "", why it isn't used or "").
    """
    head = f"{'blocked' if blocking else 'quiet'} for {one_line(target)}"
    return [head, *foreign_lines(blocking), "sensors", *(_line(*each) for each in sensors)]


def _line(name: str, says: str, absent: str, unused: str) -> str:
    state = f"not asked: {unused}" if unused else f"absent: {absent}" if absent else says
    return f"  {name:<10} {one_line(state, 200)}"
