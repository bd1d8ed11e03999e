"""Asking proposers: what is taken, what is told back, and how a sweep picks."""

import dataclasses

import pytest
from msgspec.structs import replace

from expctl.adapters.proposers.sweep_search import search_of
from expctl.adapters.records.proposal_file import proposal_bytes, proposal_of
from expctl.domain.errors import Busy, Interrupted, Refused
from expctl.domain.experiment.proposal import Kind
from expctl.domain.experiment.proposal_files import Draft
from expctl.domain.protocol.proposer import Proposer, Screen, Sweep
from expctl.domain.run.step_result import Failed
from expctl.flow.autopilot.ask_proposer import ProposerTools, ask_proposer
from expctl.flow.autopilot.proposer_input import ProposerInput
from expctl.flow.autopilot.steps import NothingProposed, SweepFinished
from expctl.flow.queue.edit_queue import prioritise, withdraw
from expctl.flow.queue.submit import Proposed
from expctl.flow.run.experiment import run_experiment
from tests.fakes.proposers import FakeProposers
from tests.fakes.stage import PROTOCOL, STEP, Stage, patch_to, proposal
from tests.refusals import refuses


def draft(id: str, kernel: str, path: str = "src/kernel", **changes: object) -> Draft:
    made = proposal(id, **changes)
    return Draft(proposal=made, text=proposal_bytes(made), patch=patch_to(kernel, path))


def employing(*answers: Draft | Failed | Refused | None) -> tuple[Stage, ProposerTools]:
    stage = Stage()
    stage.library.given_protocol = replace(PROTOCOL, proposer=Proposer(argv=("agent",)))
    return stage, ProposerTools(proposers=FakeProposers(list(answers)), search=search_of, write=proposal_bytes)


def fake(proposer_tools: ProposerTools) -> FakeProposers:
    assert isinstance(proposer_tools.proposers, FakeProposers)
    return proposer_tools.proposers


def test_what_it_makes_is_committed_with_a_ticket_and_runs_like_any_other() -> None:
    stage, proposer_tools = employing(draft("P1", "slow 900000"))
    made = ask_proposer(stage.context(), proposer_tools)
    assert isinstance(made, Proposed)
    filing = stage.library.filings(made.commit, ["P1"])["P1"]
    assert filing.ticket is not None
    assert (filing.ticket.by, filing.was_changed) == ("command", False)
    assert fake(proposer_tools).told == [None]
    assert run_experiment(stage.context(), "P1").record.verdict == "KEEP"


def test_it_is_told_what_was_tried_and_which_id_is_free() -> None:
    stage, proposer_tools = employing(None)
    stage.queue("P7", "slow 1100000")
    run_experiment(stage.context(), "P7")
    assert isinstance(ask_proposer(stage.context(), proposer_tools), SweepFinished)
    (brief,) = fake(proposer_tools).briefs
    assert isinstance(brief, ProposerInput)
    assert (brief.next_id, [(each.id, each.verdict) for each in brief.records]) == ("P8", [("P7", "REJECT")])
    sections = {each.key: each for each in brief.sections}
    assert [each.split(",")[0] for each in sections["rules"].items] == ["P7"]


def test_the_brief_has_what_waits_by_priority_and_not_what_was_withdrawn() -> None:
    stage, proposer_tools = employing(None)
    for name in ("P7", "P8", "P9"):
        stage.queue(name, f"slow {name[1:]}00000")
    prioritise(stage.context(), "P9", 3)
    withdraw(stage.context(), "P7", "no time")
    assert isinstance(ask_proposer(stage.context(), proposer_tools), SweepFinished)
    (brief,) = fake(proposer_tools).briefs
    assert isinstance(brief, ProposerInput)
    waiting = next(each for each in brief.sections if each.key == "next")
    assert [each.split()[0].strip(":,") for each in waiting.items] == ["P9", "P8"]


@pytest.mark.parametrize(
    ("answer", "said", "fault"),
    [
        (Failed(reason="exited with status 7", fault=True), "exited with status 7", True),
        (Refused("two folders", code="proposer-left-no-proposal"), "two folders", False),
        (draft("P1", "x", "bench/run"), "what an experiment may not change", False),
        (draft("P1", "x" * 2_000_000), "what an experiment may not change", False),
        (draft("P7", "slow 900000"), "P7 exists already", False),
        (draft("P8", "slow 1100000"), "tried before, as P7", False),
        (draft("P8", "slow 800000"), "P9 proposes the same change already", False),
        (draft("P8", "slow 700000", depends_on=("P7.speed > 1",)), "something that no result can have", False),
        (replace(draft("P8", ""), patch=b"no patch"), "the patch does not apply", False),
    ],
)
def test_what_is_not_taken_is_told_back(answer: Draft | Failed | Refused, said: str, fault: bool) -> None:
    stage, proposer_tools = employing(answer)
    stage.queue("P7", "slow 1100000")
    run_experiment(stage.context(), "P7")
    stage.queue("P9", "slow 800000")
    head = stage.workspace.head()
    refused = ask_proposer(stage.context(), proposer_tools)
    assert isinstance(refused, NothingProposed)
    assert (said in refused.refusal.message, refused.fault) == (True, fault), refused.refusal.message
    (told,) = fake(proposer_tools).told
    assert told is not None
    assert told.refused == refused.refusal.message
    assert (stage.workspace.head(), stage.workspace.check_outs) == (head, set())


def test_a_baseline_that_changes_under_it_ends_the_queue() -> None:
    stage, proposer_tools = employing(draft("P1", "slow 900000"))
    fake(proposer_tools).meanwhile = lambda: stage.workspace.edit({"src/kernel": b"slow 500000"})
    with refuses("baseline-changed"):
        ask_proposer(stage.context(), proposer_tools)
    stage, proposer_tools = employing(draft("P1", "slow 900000"))
    fake(proposer_tools).meanwhile = lambda: stage.workspace.edit({"notes": b"mine"})
    assert isinstance(ask_proposer(stage.context(), proposer_tools), Proposed)


def test_another_branch_under_it_ends_the_queue() -> None:
    stage, proposer_tools = employing(draft("P1", "slow 900000"))
    head = stage.workspace.refs["refs/heads/other"] = stage.workspace.head()
    fake(proposer_tools).meanwhile = lambda: setattr(stage.workspace, "checked_out", "other")
    with refuses("another-branch"):
        ask_proposer(stage.context(), proposer_tools)
    assert stage.workspace.head() == head


def test_a_proposal_waits_for_whoever_holds_the_repository() -> None:
    stage, proposer_tools = employing(draft("P1", "slow 900000"))
    pauses: list[float] = []
    proposer_tools = dataclasses.replace(proposer_tools, pause=pauses.append)
    fake(proposer_tools).meanwhile = lambda: setattr(stage.locks, "busy_times", 2)
    assert isinstance(ask_proposer(stage.context(), proposer_tools), Proposed)
    assert len(pauses) == 2
    assert sum(line.startswith("waiting to queue P1: another expctl") for line in stage.progress.lines) == 1


def test_a_proposal_that_waits_can_be_stopped() -> None:
    stage, proposer_tools = employing(draft("P1", "slow 900000"))
    fake(proposer_tools).meanwhile = lambda: setattr(stage.locks, "busy_times", 99)
    stage.stops_after = 0
    with pytest.raises(Busy):
        ask_proposer(stage.context(), dataclasses.replace(proposer_tools, pause=lambda _: None))


def test_another_run_is_busy_and_no_fault() -> None:
    stage, proposer_tools = employing()
    stage.locks.taken = True
    with pytest.raises(Busy):
        ask_proposer(stage.context(), proposer_tools)
    assert fake(proposer_tools).told == []


# ------------------------------------------------------------------ sweeps


def sweeping(kernel: str, sweep: Sweep) -> tuple[Stage, ProposerTools]:
    stage, proposer_tools = employing()
    stage.library.given_protocol = replace(PROTOCOL, proposer=Proposer(sweep=sweep))
    stage.workspace.edit({"src/kernel": kernel.encode()})
    return stage, proposer_tools


LEAST_BYTES = Sweep(file="src/kernel", constants={"A": ("100", "7", "55", "1000")}, screen=Screen(fact="bytes", target="guard"))


def test_a_sweep_by_a_figure_proposes_the_least_then_the_next_then_nothing() -> None:
    stage, proposer_tools = sweeping("A = 100", LEAST_BYTES)
    titles = []
    while isinstance(made := ask_proposer(stage.context(), proposer_tools), Proposed):
        titles.append(made.title)
    assert titles == ["A=7 in src/kernel", "A=55 in src/kernel"]
    assert made == SweepFinished(why="the sweep found nothing better among 1 combinations")
    assert stage.steps.measured == []
    first = stage.library.queued(stage.workspace.head(), "P1").proposal
    assert (first.kind, "bytes less by 2" in first.hypothesis) == (Kind.CONFIG, True)


def test_what_fails_its_test_or_its_build_does_not_win() -> None:
    tuples = ({"A": "500000"}, {"A": "600000"}, {"A": "700000"}, {"A": "2000000"})
    stage, proposer_tools = sweeping("A = 1000000 ;", Sweep(file="src/kernel", tuples=tuples))
    stage.toolchains.refuses["cpu", "500000"] = "no"
    stage.steps.fails_test["600000"] = Failed(reason="wrong")
    made = ask_proposer(stage.context(), proposer_tools)
    assert isinstance(made, SweepFinished)  # the fake's clock reads `slow N` only, so all that is left is as fast
    assert sorted({code.split("_")[2] for code in stage.steps.tested}) == ["2000000", "600000", "700000"]
    assert stage.gate.holds == 1


def test_the_least_that_passes_its_test_and_builds_wins() -> None:
    stage, proposer_tools = sweeping("A = 1000", replace(LEAST_BYTES, constants={"A": ("7", "55", "100")}))
    protocol = stage.library.given_protocol
    guard = replace(protocol.targets["guard"], test=STEP)
    stage.library.given_protocol = replace(protocol, targets={**protocol.targets, "guard": guard})
    stage.steps.fails_test["A_=_7"] = Failed(reason="wrong")
    stage.toolchains.refuses["guard", "55"] = "no"
    made = ask_proposer(stage.context(), proposer_tools)
    assert isinstance(made, Proposed)
    assert made.title == "A=100 in src/kernel"


def test_a_sweep_stops_between_combinations() -> None:
    stage, proposer_tools = sweeping("A = 100", LEAST_BYTES)
    stage.stops_after = 1
    with pytest.raises(Interrupted):
        ask_proposer(stage.context(), proposer_tools)
    assert stage.workspace.check_outs == set()


def test_our_own_proposals_read_back() -> None:
    made = proposal("P3", title='a "b": c\n', depends_on=("P1 or P2",), precondition="new tile")
    assert proposal_of(proposal_bytes(made), "experiments/P3") == made
