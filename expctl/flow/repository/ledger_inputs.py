"""Read from a commit what ledger.md (the summary of all experiments) and the queue are computed from."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from expctl.domain.ledger.hot_loop_card import newest_keeps
from expctl.domain.ledger.inputs import LedgerInputs
from expctl.domain.ledger.model import Ledger, ledger_from
from expctl.domain.ledger.record_summary import in_order, standing
from expctl.flow.repository.conditions import conditions_at
from expctl.flow.repository.hot_loops import known_loops
from expctl.flow.repository.pending import read_queue
from expctl.flow.repository.standing_records import standing_records

if TYPE_CHECKING:
    from collections.abc import Mapping

    from expctl.domain.experiment.hot_loop import HotLoop
    from expctl.domain.experiment.record import Record
    from expctl.domain.ledger.totals import LedgerTotals
    from expctl.domain.queue.dependency_answer import Profile
    from expctl.domain.queue.pending import Queue
    from expctl.ports.repository import Library


class NewRecord(NamedTuple):
    """A record that is about to be committed, the bytes of its file, and those of its figures that profile.json will have."""

    record: Record
    text: bytes
    profile: Profile = MappingProxyType({})


def read_ledger_inputs(library: Library, commit: str) -> LedgerInputs:
    """Read everything from which ledger.md and the queue of `commit` are computed. Raises Refused on an unreadable file."""
    protocol, summaries = library.protocol(commit), library.digests(commit)
    return LedgerInputs(
        protocol=protocol,
        digests={each.id: each for each in summaries},
        records=standing_records(library, commit, {*standing(in_order(summaries)).values(), *newest_keeps(summaries)}),
        findings=library.findings(commit),
        waiting=read_queue(library, commit),
        conditions=conditions_at(library, commit, protocol, {}),
        template=library.ledger_template(commit),
        blind=library.blind_slots(commit),
        rivals=library.rivals(commit),
        hot_loops=known_loops(library, commit, protocol),
    )


def read_ledger(library: Library, commit: str, counted: tuple[HotLoop, ...] | None = None) -> Ledger:
    """Return the ledger of `commit`, computed from stored totals, which is faster than from the records' summaries. `counted`
    are hot loops of its code, if not those that it contains (None). Raises Refused on an unreadable file.
    """
    return _ledger(library, commit, library.ledger_totals(commit), read_queue(library, commit), {}, counted)


def ledger_with(library: Library, commit: str, *new: NewRecord) -> Ledger:
    """Return the ledger of a commit upon `commit` that adds or changes records. Raises Refused on an unreadable file."""
    queue, records = read_queue(library, commit), {each.record.id: each.record for each in new}
    profiles = {each.record.id: each.profile for each in new if each.profile}
    queue = replace(queue, records={**queue.records, **records}, profiles={**queue.profiles, **profiles})
    totals = library.ledger_totals(commit, {each.record.id: each.text for each in new})
    return _ledger(library, commit, totals, queue, records)


def _ledger(
    library: Library,
    commit: str,
    totals: LedgerTotals,
    queue: Queue,
    new: Mapping[str, Record],
    counted: tuple[HotLoop, ...] | None = None,
) -> Ledger:
    protocol, shown = library.protocol(commit), {*totals.standing.values(), *newest_keeps(totals.rows)}
    return ledger_from(
        protocol,
        totals,
        {**standing_records(library, commit, shown - new.keys()), **new},
        findings=library.findings(commit),
        queue=queue.entries(),
        conditions=conditions_at(library, commit, protocol, {}),
        template=library.ledger_template(commit),
        blind=library.blind_slots(commit),
        rivals=library.rivals(commit),
        hot_loops=known_loops(library, commit, protocol) if counted is None else counted,
    )
