"""The queue: order, conditions, circles, and what can't run."""

import random

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from expctl.domain.experiment.proposal import Kind, Prediction, Proposal, Verdict
from expctl.domain.experiment.queue_ticket import QueuedTicket, Ticket, content_of
from expctl.domain.experiment.record import Fact, Origin, Record
from expctl.domain.experiment.unreadable import Unreadable
from expctl.domain.queue.ordering import Entry, State, asked_profiles, line_up

TICKET = Ticket(content="c", base="b" * 40, date="2026-03-01")


def proposal(id: str, *depends_on: str) -> Proposal:
    return Proposal(
        id=id, title=id, kind=Kind.PERF, hypothesis="h", prediction=Prediction(verdict=Verdict.KEEP), depends_on=depends_on
    )


def record(id: str, verdict: Verdict, attempts: int = 1) -> Record:
    return Record(
        id=id,
        title=id,
        kind=Kind.PERF,
        origin=Origin.MEASURED,
        target="cpu",
        verdict=verdict,
        reasons=("because",),
        attempts=attempts,
    )


def states(*proposals: Proposal, records: tuple[Record, ...] = (), **tickets: Ticket) -> list[tuple[str, str, str]]:
    filings = {name: QueuedTicket(ticket=ticket, content="c") for name, ticket in tickets.items()}
    return [(each.id, each.state.value, each.why) for each in line_up(proposals, records, filings, {})]


def test_without_tickets_the_order_is_that_of_ids() -> None:
    assert [id for id, _, _ in states(proposal("P10"), proposal("P9"), proposal("P8b"))] == ["P8b", "P9", "P10"]


def test_what_is_malformed_stops_only_what_waits_for_it() -> None:
    damaged = Unreadable(id="P2", where="experiments/P2/experiment.yaml", problems=("one", "two"))
    entries = line_up((proposal("P1"), proposal("P3", "P2"), proposal("P4")), (), {}, {}, (damaged,))
    assert [(each.id, each.state.value, each.why) for each in entries] == [
        ("P1", "ready", ""),
        ("P3", "waiting", "for P2: P2 is malformed"),
        ("P4", "ready", ""),
        ("P2", "malformed", "experiments/P2/experiment.yaml: one; two"),
    ]
    gone = {"P2": QueuedTicket(ticket=replace(TICKET, withdrawn="never mind"), content="")}
    assert [(each.id, each.state) for each in line_up((), (), gone, {}, (damaged,))] == [("P2", State.WITHDRAWN)]


def test_a_larger_priority_runs_earlier_but_not_before_what_it_waits_for() -> None:
    first = replace(TICKET, priority=5)
    found = states(proposal("P1"), proposal("P2"), proposal("P3", "P2"), P3=first)
    assert found == [("P1", "ready", ""), ("P2", "ready", ""), ("P3", "waiting", "for P2: P2 has not run yet")]
    assert [id for id, _, _ in states(proposal("P1"), proposal("P2"), P2=first)] == ["P2", "P1"]


def test_what_can_never_hold_is_skipped_and_so_is_what_waits_for_it() -> None:
    found = states(
        proposal("P2", "P1"),
        proposal("P3", "P2"),
        proposal("P4", "P1.verdict == REJECT"),
        records=(record("P1", Verdict.REJECT),),
    )
    assert found == [
        ("P4", "ready", ""),
        ("P2", "skipped", "P1 can't hold any more: P1 ended in REJECT"),
        ("P3", "skipped", "P2 can't hold any more: P2 is skipped"),
    ]


def test_a_circle_is_skipped_but_not_a_way_out_of_it() -> None:
    assert [state for _, state, _ in states(proposal("P1", "P2"), proposal("P2", "P1"))] == ["skipped", "skipped"]
    found = states(proposal("P1", "P2 or P3"), proposal("P2", "P1"), proposal("P3"))
    assert [(id, state) for id, state, _ in found] == [("P3", "ready"), ("P1", "waiting"), ("P2", "waiting")]


def test_an_invalid_one_waits_until_it_was_tried_three_times() -> None:
    tried = states(proposal("P1"), proposal("P2", "P1"), records=(record("P1", Verdict.INVALID, 2),))
    assert tried == [("P1", "ready", "INVALID 2 times so far"), ("P2", "waiting", "for P1: P1 is INVALID so far")]
    (_, given_up) = states(proposal("P1"), proposal("P2", "P1"), records=(record("P1", Verdict.INVALID, 3),))
    assert given_up == ("P1", "INVALID", "tried 3 times: because")


def test_what_a_ticket_says_of_it() -> None:
    blocked = replace(TICKET, blocked="lines changed", blocked_on="f" * 40)
    found = states(
        *(proposal(f"P{n}") for n in range(1, 5)),
        proposal("P5", "P1"),
        proposal("P6", "P2"),
        P1=replace(TICKET, withdrawn="no need"),
        P2=blocked,
        P3=replace(TICKET, content="other"),
    )
    assert found == [
        ("P4", "ready", ""),
        ("P6", "waiting", "for P2: P2 is BLOCKED"),
        ("P2", "BLOCKED", "on fffffff: lines changed"),
        ("P5", "skipped", "P1 can't hold any more: P1 was withdrawn"),
        ("P3", "changed", "it is not what was queued under this id"),
        ("P1", "withdrawn", "no need"),
    ]


def test_profiles_are_asked_for_by_conditions_only() -> None:
    asking = proposal("P2", "P1.profile.lds_ratio > 1.2", "P3.build.vgpr < 9")
    assert asked_profiles([asking, proposal("P4", "P3")]) == {"P1"}
    facts = {"baseline": (Fact(name="lds", value=1),), "candidate": (Fact(name="lds", value=2),)}
    (entry,) = line_up([replace(asking, depends_on=asking.depends_on[:1])], [record("P1", Verdict.KEEP)], {}, {"P1": facts})
    assert entry.state is State.READY


@given(st.lists(st.lists(st.integers(1, 8), max_size=3), min_size=1, max_size=8), st.integers())
def test_everybody_has_one_place_whatever_the_order_and_after_what_he_waits_for(needs: list[list[int]], seed: int) -> None:
    proposals = [proposal(f"P{n}", *(f"P{m}" for m in found)) for n, found in enumerate(needs, start=1)]
    shuffled = list(proposals)
    random.Random(seed).shuffle(shuffled)
    entries = line_up(shuffled, (), {}, {})
    assert entries == line_up(proposals, (), {}, {})
    assert sorted(each.id for each in entries) == sorted(each.id for each in proposals)
    runs: list[Entry] = [each for each in entries if each.state in (State.READY, State.WAITING)]
    for place, each in enumerate(runs):
        inside = {name for name in each.proposal.depends_on if any(name == other.id for other in entries)}
        assert inside <= {other.id for other in runs[:place]}


def test_the_hash_of_a_proposal_tells_its_two_files_apart() -> None:
    assert content_of(b"a", b"b") != content_of(b"ab", b"") != content_of(b"", b"ab")


def test_a_proposal_without_a_change_is_malformed_and_never_ready() -> None:
    filings = {
        "P1": QueuedTicket(ticket=None, content="c", unfit="change.patch: no such file"),
        "P2": QueuedTicket(ticket=None, content="c"),
    }
    found = line_up([proposal("P1"), proposal("P2")], [], filings, {})
    assert [(each.id, each.state) for each in found] == [("P2", State.READY), ("P1", State.MALFORMED)]
    assert found[1].why == "experiments/P1/change.patch: no such file"
