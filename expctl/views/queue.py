"""The queue of proposals as text for a terminal, in the order in which they will run, and why some of them wait."""

from collections.abc import Sequence

from expctl.domain.queue.ordering import Entry
from expctl.domain.text import one_line


def queue_lines(entries: Sequence[Entry]) -> list[str]:
    """Return one line per queued proposal; if there is none, one line on how to add one."""
    return [entry_line(each) for each in entries] or ["the queue is empty: expctl new --from-diff"]


def entry_line(entry: Entry) -> str:
    """Return a queued proposal as a line of text: its id, state and title, e.g. `P7 ready Wider reads`. Its priority and the
    reason why it waits follow, if it has any.
    """
    words = [one_line(entry.proposal.title, 80)]
    words += [f"priority {entry.priority}"] if entry.priority else []
    words += [one_line(entry.why, 200)] if entry.why else []
    return f"  {entry.id:<10} {entry.state:<10} {'   '.join(words)}"
