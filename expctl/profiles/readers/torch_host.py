"""Own times of nested operators on a host, for a torch.profiler trace of a machine without a GPU."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

HOST = "cpu"
"""The device of operators that ran on the host."""


class Operator(NamedTuple):
    """One call of an operator in one thread, with all that it calls."""

    name: str
    start_ns: int
    end_ns: int


class OwnTime(NamedTuple):
    """What an operator took without the operators that it called: `end_ns` is its start plus that time."""

    name: str
    start_ns: int
    end_ns: int


def own_times(operators: Iterable[Operator]) -> Iterator[OwnTime]:
    """Yield the own time of each of the `operators` of one thread that took any."""
    callers: list[list[int]] = []
    calls: list[tuple[Operator, list[int]]] = []
    for each in sorted(operators, key=lambda each: (each.start_ns, -each.end_ns)):
        while callers and callers[-1][0] <= each.start_ns:
            callers.pop()
        within = each.end_ns - each.start_ns
        if callers:
            callers[-1][1] -= min(within, callers[-1][0] - each.start_ns)
        own = [each.end_ns, within]
        callers.append(own)
        calls.append((each, own))
    for each, (_, left_ns) in calls:
        if left_ns > 0:
            yield OwnTime(each.name, each.start_ns, each.start_ns + left_ns)
