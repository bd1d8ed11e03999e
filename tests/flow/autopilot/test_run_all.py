"""The queue, by itself."""

import errno

import pytest

from expctl.domain.errors import Busy, Interrupted, Refused
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.queue.ordering import INVALID_RETRIES, Entry, State
from expctl.domain.run.step_result import Failed
from expctl.flow.autopilot.blind_slot import BlindOutcome, Chance
from expctl.flow.autopilot.budget import Budget
from expctl.flow.autopilot.campaign import WentBeside
from expctl.flow.autopilot.run_all import BUSY_PAUSE_S, Ask, run_all
from expctl.flow.autopilot.steps import Ended, NothingProposed, Skipped, Step, SweepFinished
from expctl.flow.queue.edit_queue import Rebased, prioritise, withdraw
from expctl.flow.queue.submit import Proposed
from expctl.flow.repository.ledger_inputs import read_ledger_inputs
from expctl.flow.run.experiment import Outcome, run_experiment
from expctl.ports.context import Context
from tests.fakes.stage import Stage, patch_to
from tests.refusals import refuses


def nobody(_world: Context, _target: str) -> SweepFinished:
    """There is no proposer."""
    return SweepFinished(why="nobody proposes")


def go(
    stage: Stage,
    budget: Budget | None = None,
    pauses: list[float] | None = None,
    ask: Ask = nobody,
    chance: Chance = lambda: 0.5,
) -> list[str]:
    """Run all; say what happened in words, but for the last, why it ended: that is in `stage.progress.lines`."""
    pause = (lambda _: None) if pauses is None else pauses.append
    steps = run_all(stage.context(), target="", budget=budget or Budget(), ask=ask, pause=pause, chance=chance)
    lines = [said(step) for step in steps]
    if lines and lines[-1].startswith("ended: "):
        stage.progress.lines.append(lines.pop())
    return lines


def said(step: Step) -> str:
    match step:
        case Outcome(record=record):
            return f"{record.id} {record.verdict}"
        case BlindOutcome(slot=slot):
            return f"blind {step.truth} {slot.verdict if slot else step.note}"
        case Skipped():
            return f"{step.id} {step.state}: {step.refusal.message}"
        case Rebased():
            return f"rebased: {', '.join(step.blocked)} blocked, {', '.join(step.freed)} freed"
        case Proposed():
            return f"{step.id} proposed"
        case NothingProposed():
            return f"unproposed: {step.refusal.message}"
        case WentBeside():
            return f"beside: {step.branch}"
        case Ended():
            return f"ended: {step.why}" + (f"; {step.bring_home}" if step.bring_home else "")


def test_an_empty_queue_is_done() -> None:
    assert go(Stage()) == []


def test_the_queue_is_run_in_its_order_each_on_what_was_kept_before() -> None:
    stage = Stage()
    stage.queue("P1", "slow 900000")
    stage.queue("P2", "slow 1000000 # as before P1", precondition="")
    stage.queue("P3", "slow 800000")
    assert go(stage) == ["P1 KEEP", "P2 REJECT", "P3 KEEP"]
    assert stage.kernel() == "slow 800000"
    assert go(stage) == []


def test_what_is_refused_is_skipped_and_the_queue_goes_on() -> None:
    stage = Stage()
    stage.queue("P1", "", patch=b"not a patch")
    stage.queue("P2", "slow 900000")
    assert go(stage) == ["rebased: P1 blocked,  freed", "P2 KEEP"]
    assert stage.progress.lines[-1] == "ended: nothing in the queue can run: 1 BLOCKED"


def test_a_proposal_that_lacks_its_patch_does_not_stop_the_others() -> None:
    stage = Stage()
    stage.queue("P1", "slow 900000")
    stage.queue("P2", "slow 800000")
    stage.library.unreadable = {"P1"}
    assert go(stage) == ["P1 ready: P1 is not a committed proposal", "P2 KEEP", "P1 ready: P1 is not a committed proposal"]
    assert stage.library.filings(stage.workspace.head(), ["P1"])["P1"].ticket is None


def test_an_experiment_whose_dependency_comes_later_is_run_after_it() -> None:
    stage = Stage()
    stage.queue("P1", "slow 800000", depends_on=("P2",))
    stage.queue("P2", "slow 900000")
    assert go(stage) == ["P2 KEEP", "P1 KEEP"]


def test_two_that_wait_for_each_other_are_skipped_once() -> None:
    stage = Stage()
    stage.queue("P1", "slow 800000", depends_on=("P2",))
    stage.queue("P2", "slow 900000", depends_on=("P1",))
    assert [line.split()[0] for line in go(stage)] == ["P1", "P2"]


def test_an_invalid_one_is_tried_twice_more_and_no_oftener() -> None:
    stage = Stage()
    stage.queue("P1", "slow 900000")
    stage.queue("P2", "slow 800000")
    stage.steps.fails_measure = [Failed(reason="no device", fault=True)] * (1 + INVALID_RETRIES)
    assert go(stage) == [
        *("P1 INVALID", "P1 INVALID", "P1 INVALID"),
        "P1 INVALID: P1 is INVALID: tried 3 times: benchmark: no device",
        "P2 KEEP",
    ]


def test_an_invalid_one_may_recover() -> None:
    stage = Stage()
    stage.queue("P1", "slow 900000")
    stage.steps.fails_measure = [Failed(reason="no device", fault=True)]
    assert go(stage) == ["P1 INVALID", "P1 KEEP"]


@pytest.mark.parametrize("limit", [1, 2])
def test_a_budget_of_experiments_counts_what_concluded(limit: int) -> None:
    stage = Stage()
    for id, kernel in (("P1", "slow 900000"), ("P2", "slow 800000"), ("P3", "slow 700000")):
        stage.queue(id, kernel)
    stage.steps.fails_measure = [Failed(reason="no device", fault=True)]
    assert go(stage, Budget(experiments=limit)) == ["P1 INVALID", "P1 KEEP", "P2 KEEP"][: limit + 1]


def test_a_budget_of_hours_ends_between_experiments() -> None:
    stage = Stage()
    for id, kernel in (("P1", "slow 900000"), ("P2", "slow 800000")):
        stage.queue(id, kernel)
    assert go(stage, Budget(hours=10 / 3600)) == ["P1 KEEP"]  # the fake clock ticks once a look


def test_a_busy_machine_is_waited_out() -> None:
    stage = Stage()
    stage.queue("P1", "slow 900000")
    stage.locks.busy_times = 3
    pauses: list[float] = []
    assert go(stage, pauses=pauses) == ["P1 KEEP"]
    assert sum(pauses) == pytest.approx(3 * BUSY_PAUSE_S)
    assert 0 < min(pauses) <= max(pauses) < 0.5, "a request to stop is heard soon"
    assert sum(line.startswith("waiting another expctl is running") for line in stage.progress.lines) == 1


def test_a_request_to_stop_is_heard_before_the_next_experiment() -> None:
    stage = Stage()
    stage.queue("P1", "slow 900000")
    stage.stops_after = 0
    assert go(stage) == []
    assert stage.journal.events == {}


def test_a_request_to_stop_inside_an_experiment_ends_all() -> None:
    stage = Stage()
    stage.queue("P1", "slow 900000")
    stage.queue("P2", "slow 800000")
    stage.stops_after = 4
    with pytest.raises(Interrupted):
        go(stage)
    assert stage.journal.unfinished() == ("P1",)
    assert go(stage) == ["P1 KEEP", "P2 KEEP"]


def test_a_refusal_of_the_lock_is_not_an_outcome() -> None:
    stage = Stage()
    stage.queue("P1", "slow 900000")
    stage.locks.taken = True

    def give_up(_: float) -> None:
        raise Busy("enough", code="test-is-over")

    with refuses("test-is-over", Busy):
        list(run_all(stage.context(), target="", budget=Budget(), ask=nobody, pause=give_up))


def test_the_wanted_target_is_the_one_that_decides() -> None:
    stage = Stage()
    stage.queue("P1", "slow 900000")
    outcome, _ = run_all(stage.context(), target="other", budget=Budget(), ask=nobody, pause=lambda _: None)
    assert isinstance(outcome, Outcome)
    assert (outcome.record.target, outcome.record.verdict) == ("other", Verdict.KEEP)


# ------------------------------------------------------------------ what a KEEP does to the others


def queue_of(stage: Stage) -> dict[str, Entry]:
    return {each.id: each for each in read_ledger_inputs(stage.library, stage.workspace.head()).queue()}


def test_what_a_keep_leaves_without_a_place_is_blocked_and_may_be_freed() -> None:
    stage = Stage()
    stage.queue("P1", "slow 900000")
    stage.queue("P2", "", patch=patch_to("was:slow 1000000:slow 800000"))
    stage.queue("P3", "", patch=patch_to("slow 900000"))
    assert go(stage) == ["P1 KEEP"]
    assert {name: (each.state, each.why.split(": ", 1)[1]) for name, each in queue_of(stage).items()} == {
        "P2": (State.BLOCKED, "patch failed: src/kernel:1"),
        "P3": (State.BLOCKED, "the baseline has this change already"),
    }
    stage.workspace.edit({"src/kernel": b"slow 1000000"})
    assert go(stage) == ["rebased:  blocked, P2, P3 freed", "P2 KEEP", "P3 REJECT"]


def test_nothing_is_committed_when_nothing_changes() -> None:
    stage = Stage()
    stage.queue("P1", "slow 900000", depends_on=("P9",))
    head = stage.workspace.head()
    assert go(stage) == ["P1 waiting: P1 is waiting: for P9: there is no P9"]
    assert stage.workspace.head() == head


def test_withdrawn_it_is_not_run_and_its_unfinished_run_is_given_up() -> None:
    stage = Stage()
    stage.queue("P1", "slow 900000")
    stage.stops_after = 4
    with pytest.raises(Interrupted):
        go(stage)
    assert withdraw(stage.context(), "P1", "no\nneed").why == "no need"
    assert stage.journal.unfinished() == ()
    assert go(stage) == []
    with refuses("proposal-withdrawn"):
        run_experiment(stage.context(), "P1")
    with refuses("not-in-queue"):
        withdraw(stage.context(), "P1", "again")


def test_priority_decides_who_is_first() -> None:
    stage = Stage()
    stage.queue("P1", "slow 900000")
    stage.queue("P2", "slow 800000")
    assert prioritise(stage.context(), "P2", 2).priority == 2
    assert go(stage) == ["P2 KEEP", "P1 REJECT"]


def test_an_unfinished_run_is_finished_before_another_begins() -> None:
    stage = Stage()
    stage.queue("P1", "slow 900000")
    stage.queue("P2", "slow 800000")
    stage.stops_after = 4
    with pytest.raises(Interrupted):
        go(stage)
    prioritise(stage.context(), "P2", 2)
    assert go(stage) == ["P1 KEEP", "P2 KEEP"]


def test_rejects_in_a_row_end_it_and_a_keep_between_does_not() -> None:
    stage = Stage()
    for number, kernel in enumerate(("1100000", "900000", "1200000", "1300000", "1400000"), start=1):
        stage.queue(f"P{number}", f"slow {kernel}")
    assert go(stage, Budget(rejects=2)) == ["P1 REJECT", "P2 KEEP", "P3 REJECT", "P4 REJECT"]
    assert stage.progress.lines[-1] == "ended: 2 REJECTs in a row"


# ------------------------------------------------------------------ what ends everything


def test_broken_ground_ends_the_queue_with_its_own_words() -> None:
    stage = Stage()
    stage.queue("P1", "slow 900000")
    stage.queue("P2", "slow 800000")
    stage.workspace.operation = "rebase"
    with refuses("git-operation-under-way"):
        go(stage)


def test_another_branch_that_is_checked_out_meanwhile_is_left_alone() -> None:
    stage = Stage()
    stage.queue("P1", "slow 900000")
    stage.queue("P2", "slow 800000")
    steps = run_all(stage.context(), target="", budget=Budget(), ask=nobody, pause=lambda _: None)
    assert said(next(steps)) == "P1 KEEP"
    other = stage.workspace.refs["refs/heads/other"] = stage.workspace.head()
    stage.workspace.checked_out = "other"
    with refuses("another-branch") as caught:
        next(steps)
    assert (caught.value.expected, caught.value.found) == ("main", "other")
    assert stage.workspace.head() == other


@pytest.mark.parametrize(("number", "words"), [(errno.ENOSPC, "the disk is full"), (errno.EROFS, "can't be written")])
def test_a_full_disk_is_said_in_words(number: int, words: str) -> None:
    stage = Stage()
    stage.queue("P1", "slow 900000")

    def full(_number: int) -> None:
        raise OSError(number, "says the kernel", "/journal")

    stage.journal.before_append = full
    with pytest.raises(Refused, match=words) as caught:
        go(stage)
    assert caught.value.where == "/journal"


# ------------------------------------------------------------------ proposers


def test_the_proposer_is_asked_when_nothing_is_ready_and_no_oftener_than_it_may() -> None:
    stage = Stage()
    stage.queue("P1", "slow 900000")
    asked: list[list[str]] = []

    def ask(context: Context, _target: str) -> Proposed:
        asked.append([record.id for record in context.library.records(context.workspace.head())])
        name = f"P{1 + len(asked)}"
        stage.queue(name, f"slow {900000 - 100000 * len(asked)}")
        return Proposed(id=name, title="t", commit="c", files=(), restored=())

    assert go(stage, Budget(proposals=2), ask=ask) == ["P1 KEEP", "P2 proposed", "P2 KEEP", "P3 proposed", "P3 KEEP"]
    assert asked == [["P1"], ["P1", "P2"]]
    assert stage.progress.lines[-1] == "ended: the queue is empty; the budget of 2 proposals is spent"


def test_a_proposer_that_could_not_be_asked_was_not_asked() -> None:
    stage = Stage()
    taken = Busy("the machine is taken", code="machine-in-use")
    answers: list[Busy | NothingProposed] = [taken, taken, NothingProposed(refusal=Refused("no", code="proposer-failed"))]

    def ask(_world: Context, _target: str) -> NothingProposed:
        answer = answers.pop(0)
        if isinstance(answer, Busy):
            raise answer
        return answer

    assert go(stage, Budget(proposals=1), ask=ask) == ["unproposed: no"]


def test_refusals_are_no_faults_but_three_faults_in_a_row_end_the_asking() -> None:
    stage = Stage()
    answers = [False, False, False, True, True, False, True, True, True, True]

    def ask(_world: Context, _target: str) -> NothingProposed:
        return NothingProposed(refusal=Refused("no", code="proposer-failed"), fault=answers.pop(0))

    assert go(stage, Budget(proposals=99), ask=ask) == ["unproposed: no"] * 9
    assert stage.progress.lines[-1] == "ended: the queue is empty; the proposer failed 3 times in a row"
