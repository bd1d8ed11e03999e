"""The queue: which proposals wait for a run, in which order they run, and why one can't run now. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from expctl.domain.experiment.ids import id_order
from expctl.domain.experiment.proposal import Proposal, Verdict
from expctl.domain.experiment.queue_ticket import QueuedTicket, Ticket
from expctl.domain.queue.dependency_answer import Answer, Concluded, Hopeless, Pending, Profile, Result, Truth, answer
from expctl.domain.queue.depends_on import Comparison, comparisons, parse

if TYPE_CHECKING:
    from expctl.domain.experiment.record import Record
    from expctl.domain.experiment.unreadable import Unreadable

INVALID_RETRIES = 2
NO_TICKET = QueuedTicket(ticket=None, content="")


class State(StrEnum):
    """State of a proposal that has no final verdict. BLOCKED: its patch no longer applies to the baseline."""

    READY = "ready"
    WAITING = "waiting"
    BLOCKED = "BLOCKED"
    SKIPPED = "skipped"
    CHANGED = "changed"
    MALFORMED = "malformed"
    INVALID = "INVALID"
    WITHDRAWN = "withdrawn"


# Waiting proposals are ordered among the ready ones.
RANK = {state: number for number, state in enumerate(State)} | {State.WAITING: 0}


class Entry(Struct, frozen=True, kw_only=True):
    """One proposal in the queue. `why` explains its state, `answers` says for each condition in its `depends_on` whether it
    holds; `is_newer` tells that it can't be read because a newer expctl wrote it.
    """

    proposal: Proposal
    ticket: Ticket | None
    state: State
    why: str
    answers: tuple[tuple[str, Answer], ...] = ()
    is_newer: bool = False

    @property
    def id(self) -> str:
        """Id of the proposed experiment."""
        return self.proposal.id

    @property
    def priority(self) -> int:
        """Priority of the proposal, 0 by default; larger ones run earlier."""
        return self.ticket.priority if self.ticket else 0


def waiting(proposals: Iterable[Proposal], records: Iterable[Record]) -> tuple[Proposal, ...]:
    """Return the proposals without a verdict, or whose last run was INVALID, sorted by id."""
    concluded = {record.id for record in records if record.verdict is not Verdict.INVALID}
    return tuple(sorted((each for each in proposals if each.id not in concluded), key=lambda each: id_order(each.id)))


def asked_experiments(proposals: Iterable[Proposal]) -> frozenset[str]:
    """Return the ids of the experiments whose results the `depends_on` of `proposals` refer to."""
    return frozenset(each.experiment for each in _asked(proposals))


def asked_profiles(proposals: Iterable[Proposal]) -> frozenset[str]:
    """Return the ids of the experiments whose profiles the `depends_on` of `proposals` refer to."""
    return frozenset(each.experiment for each in _asked(proposals) if each.names[0] == "profile")


def line_up(
    proposals: Sequence[Proposal],
    records: Sequence[Record],
    filings: Mapping[str, QueuedTicket],
    profiles: Mapping[str, Profile],
    malformed: Iterable[Unreadable] = (),
) -> tuple[Entry, ...]:
    """Return the queue: the proposals that can run, in the order in which they run, then the others with `malformed` ones.
    `filings` are the tickets of the proposals and `profiles` the profiles of finished experiments, both by experiment id.
    """
    unread = {each.id: each for each in malformed}
    left = {each.id: each for each in waiting((*proposals, *(each.stand_in() for each in unread.values())), records)}
    asked = {each.experiment for each in _asked(left.values())} | left.keys()
    by_id = {record.id: record for record in records if record.id in asked}
    results: dict[str, Result] = {name: _result_of(each, profiles.get(name, {})) for name, each in by_id.items()}
    filed = {name: filings.get(name, NO_TICKET) for name in left}
    for name in left:
        results[name] = _result_by_ticket(name, filed[name].ticket) or results.get(name, Pending(f"{name} has not run yet"))
        if name in unread and isinstance(results[name], Pending):
            results[name] = Pending(f"{name} is malformed")
    _mark_hopeless(left, results)
    order = _run_order(left, filed, results)
    for name in left.keys() - set(order):
        if isinstance(results[name], Pending):
            results[name] = Hopeless(f"{name} waits in a circle")
    entries = [
        _unread_entry(unread[name], filed[name].ticket)
        if name in unread
        else _entry(proposal, filed[name], by_id.get(name), results)
        for name, proposal in left.items()
    ]
    place = {name: number for number, name in enumerate(order)}
    return tuple(sorted(entries, key=lambda each: (RANK[each.state], place.get(each.id, len(place)), id_order(each.id))))


def _asked(proposals: Iterable[Proposal]) -> Iterator[Comparison]:
    return (each for proposal in proposals for text in proposal.depends_on for each in comparisons(parse(text)))


def _result_by_ticket(name: str, ticket: Ticket | None) -> Result | None:
    if ticket is not None and ticket.withdrawn:
        return Hopeless(f"{name} was withdrawn")
    return Pending(f"{name} is BLOCKED") if ticket is not None and ticket.blocked else None


def _result_of(record: Record, profile: Profile) -> Result:
    if record.verdict is Verdict.INVALID:
        return Pending(f"{record.id} is INVALID so far")
    return Pending(f"{record.id} is undecided on {record.target}") if record.left_open else Concluded(record, profile)


def _answers(proposal: Proposal, results: Mapping[str, Result]) -> tuple[tuple[str, Answer], ...]:
    return tuple((text, answer(parse(text), results)) for text in proposal.depends_on)


def _never(answers: Iterable[tuple[str, Answer]]) -> list[str]:
    return [f"{text} can't hold any more: {found.why}" for text, found in answers if found.truth is Truth.NEVER]


def _mark_hopeless(left: Mapping[str, Proposal], results: dict[str, Result]) -> None:
    dependent = [each for each in left.values() if each.depends_on]
    found = True
    while found:
        found = False
        for each in dependent:
            if isinstance(results[each.id], Pending) and _never(_answers(each, results)):
                results[each.id] = Hopeless(f"{each.id} is skipped")
                found = True


def _run_order(left: Mapping[str, Proposal], filed: Mapping[str, QueuedTicket], results: Mapping[str, Result]) -> list[str]:
    """Return the ids in the order in which they run: by priority, then id, but each after those it depends on. Proposals that
    depend on each other in a cycle are left out.
    """

    def key(name: str) -> tuple[int, tuple[int, str]]:
        ticket = filed[name].ticket
        return (-(ticket.priority if ticket else 0), id_order(name))

    unplaced = sorted((name for name in left if isinstance(results[name], Pending)), key=key)
    seen: dict[str, Result] = {**results, **{name: Hopeless("comes later") for name in unplaced}}
    order: list[str] = []
    while unplaced:
        placed = next((name for name in unplaced if not _never(_answers(left[name], seen))), None)
        if placed is None:
            break
        order.append(placed)
        unplaced.remove(placed)
        seen[placed] = results[placed]
    return order


def _unread_entry(malformed: Unreadable, ticket: Ticket | None) -> Entry:
    withdrawn = ticket.withdrawn if ticket is not None else ""
    state = State.WITHDRAWN if withdrawn else State.MALFORMED
    why = withdrawn or malformed.why
    return Entry(proposal=malformed.stand_in(), ticket=ticket, state=state, why=why, is_newer=malformed.is_newer)


def _entry(proposal: Proposal, filing: QueuedTicket, record: Record | None, results: Mapping[str, Result]) -> Entry:
    answers, ticket = _answers(proposal, results), filing.ticket
    never, attempts = _never(answers), record.attempts if record else 0
    itself = results[proposal.id]
    open_ones = [f"{text}: {found.why}" for text, found in answers if found.truth is Truth.OPEN]
    if ticket is not None and ticket.withdrawn:
        state, why = State.WITHDRAWN, ticket.withdrawn
    elif filing.was_changed:
        state, why = State.CHANGED, "it is not what was queued under this id"
    elif filing.unfit:
        state, why = State.MALFORMED, f"experiments/{proposal.id}/{filing.unfit}"
    elif attempts > INVALID_RETRIES:
        state, why = State.INVALID, f"tried {attempts} times: {record.reasons[0] if record and record.reasons else ''}"
    elif never or isinstance(itself, Hopeless):
        state, why = State.SKIPPED, "; ".join(never) or getattr(itself, "why", "")
    elif ticket is not None and ticket.blocked:
        state, why = State.BLOCKED, f"on {ticket.blocked_on[:7]}: {ticket.blocked}"
    elif open_ones:
        state, why = State.WAITING, f"for {'; '.join(open_ones)}"
    else:
        state, why = State.READY, f"INVALID {attempts} times so far" if attempts else ""
    return Entry(proposal=proposal, ticket=ticket, state=state, why=why, answers=answers)
