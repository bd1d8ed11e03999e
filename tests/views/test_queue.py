"""The queue as a person sees it."""

from expctl.domain.experiment.proposal import Kind, Prediction, Proposal, Verdict
from expctl.domain.experiment.queue_ticket import QueuedTicket, Ticket
from expctl.domain.queue.ordering import line_up
from expctl.views.queue import queue_lines


def proposal(id: str, title: str, *depends_on: str) -> Proposal:
    return Proposal(
        id=id, title=title, kind=Kind.PERF, hypothesis="h", prediction=Prediction(verdict=Verdict.KEEP), depends_on=depends_on
    )


def test_every_line_says_why_it_does_not_run_now() -> None:
    tickets = {
        "P2": Ticket(content="c", base="b", date="d", priority=3),
        "P3": Ticket(content="c", base="b", date="d", blocked="the same lines of a changed meanwhile", blocked_on="4f2c91a0"),
    }
    filings = {name: QueuedTicket(ticket=ticket, content="c") for name, ticket in tickets.items()}
    proposals = (proposal("P1", "a\x1b[31m\u202etitle", "P2"), proposal("P2", "wider reads"), proposal("P3", "narrower"))
    assert queue_lines(line_up(proposals, (), filings, {})) == [
        "  P2         ready      wider reads   priority 3",
        "  P1         waiting    atitle   for P2: P2 has not run yet",
        "  P3         BLOCKED    narrower   on 4f2c91a: the same lines of a changed meanwhile",
    ]


def test_an_empty_queue_says_how_to_fill_it() -> None:
    assert queue_lines(()) == ["the queue is empty: expctl new --from-diff"]
