"""Read the queue of a commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from expctl.domain.queue.ordering import asked_experiments, asked_profiles
from expctl.domain.queue.pending import Queue

if TYPE_CHECKING:
    from expctl.ports.repository import Library


def read_queue(library: Library, commit: str) -> Queue:
    """Read the experiments queued in `commit`, with the records and profiles that their conditions name. A proposal that can't
    be read is listed as malformed. Raises Refused on a damaged record.
    """
    waiting = library.waiting(commit)
    filings = library.filings(commit, waiting)
    proposals = tuple(each for each in library.some_proposals(commit, waiting) if not filings[each.id].damaged)
    read = {each.id for each in proposals}
    missing = [each for each in waiting if each not in read]
    return Queue(
        proposals=proposals,
        records=library.some_records(commit, {*waiting, *asked_experiments(proposals)}),
        filings=filings,
        profiles=library.profiles(commit, asked_profiles(proposals)),
        malformed=library.malformed(commit, missing) if missing else (),
    )
