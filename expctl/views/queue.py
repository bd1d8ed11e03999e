"""The queue as text for a terminal, in the order in which it runs, with the reason why each entry waits."""

from collections.abc import Sequence

from expctl.domain.queue.ordering import Entry, State
from expctl.domain.text import one_line

EMPTY = "the queue is empty: expctl new ID --from-diff"


def queue_lines(entries: Sequence[Entry]) -> list[str]:
    """Return one line per proposal, or a hint when there is none."""
    return [entry_line(each) for each in entries] or [EMPTY]


def entry_line(entry: Entry) -> str:
    """Return one entry, e.g. `P7 ready Wider reads`, followed by its priority and reason if it has any."""
    words = [one_line(entry.proposal.title, 80)]
    words += [f"priority {entry.priority}"] if entry.priority else []
    words += [one_line(entry.why, 200)] if entry.why else []
    return f"  {entry.id:<10} {entry.state if entry.state is not State.READY else 'ready':<10} {'   '.join(words)}"
