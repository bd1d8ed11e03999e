"""The queue as lines for a terminal: in the order in which it runs, each with what it waits for."""

from collections.abc import Sequence

from expctl.domain.queue.ordering import Entry, State
from expctl.domain.text import one_line

EMPTY = "the queue is empty: expctl new ID --from-diff"


def queue_lines(entries: Sequence[Entry]) -> list[str]:
    """One line per proposal."""
    return [entry_line(each) for each in entries] or [EMPTY]


def entry_line(entry: Entry) -> str:
    """`P7   ready     Wider reads`, then the priority and the reason where there is one."""
    words = [one_line(entry.proposal.title, 80)]
    words += [f"priority {entry.priority}"] if entry.priority else []
    words += [one_line(entry.why, 200)] if entry.why else []
    return f"  {entry.id:<10} {entry.state if entry.state is not State.READY else 'ready':<10} {'   '.join(words)}"
