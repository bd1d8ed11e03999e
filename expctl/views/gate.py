"""The gate on a terminal: what blocks, and what each sensor sees."""

from collections.abc import Iterable, Sequence

from expctl.domain.machine.interference import Foreign
from expctl.domain.text import one_line
from expctl.views.report import foreign_lines


def gate_lines(target: str, blocking: Sequence[Foreign], sensors: Iterable[tuple[str, str, str, str]]) -> list[str]:
    """What blocks, one line each; then every sensor: (name, what it looked at, why it is absent, why it isn't asked)."""
    head = f"{'blocked' if blocking else 'quiet'} for {one_line(target)}"
    return [head, *foreign_lines(blocking), "sensors", *(_line(*each) for each in sensors)]


def _line(name: str, says: str, absent: str, unused: str) -> str:
    said = f"not asked: {unused}" if unused else f"absent: {absent}" if absent else says
    return f"  {name:<10} {one_line(said, 200)}"
