"""A campaign goes on beside the user's branch when a file of the user is in its way, and follows that branch."""

from expctl.domain.experiment.proposal import Verdict
from expctl.domain.run.step_result import Failed
from expctl.flow.autopilot.budget import Budget
from expctl.flow.autopilot.campaign import Campaign
from expctl.flow.autopilot.run_all import run_all
from expctl.flow.queue.edit_queue import prioritise, withdraw
from expctl.flow.repository.campaign import follow, seen_from
from expctl.flow.run.experiment import run_experiment
from tests.fakes.stage import Stage
from tests.flow.autopilot.test_run_all import go, nobody, said
from tests.refusals import refuses

BESIDE = "refs/heads/expctl/main"


def edited() -> Stage:
    """Two gains and a loss are queued; the user has begun to edit the kernel."""
    stage = Stage()
    stage.queue("P1", "slow 900000")
    stage.queue("P2", "slow 1300000")
    stage.queue("P3", "slow 800000")
    stage.workspace.edited = "src"
    stage.workspace.local_changes = ("src/kernel",)
    return stage


def test_a_keep_in_whose_way_an_edit_is_lands_beside() -> None:
    stage = edited()
    home = stage.workspace.head()
    assert go(stage) == ["beside: expctl/main", "P1 KEEP", "P2 REJECT", "P3 KEEP"]
    assert stage.progress.lines[-1] == "ended: the queue is empty; git merge --autostash expctl/main"
    assert stage.workspace.head() == home
    assert stage.workspace.commits[stage.workspace.refs[BESIDE]].files["src/kernel"] == b"slow 800000"
    assert stage.journal.events == {}


def test_a_reject_lands_on_the_users_branch_whatever_is_edited() -> None:
    stage = edited()
    del stage.library.queue["P1"], stage.library.queue["P3"]
    assert go(stage) == ["P2 REJECT"]
    assert "experiments/P2/record.json" in stage.workspace.commits[stage.workspace.head()].files
    assert BESIDE not in stage.workspace.refs


def test_nothing_is_run_twice_before_the_merge() -> None:
    stage = edited()
    go(stage)
    assert go(stage) == ["beside: expctl/main"]
    context = stage.context()
    with refuses("concluded-beside") as caught:
        run_experiment(context, "P2")
    assert caught.value.hint.startswith("git merge --autostash expctl/main ")
    with refuses("concluded-beside"):
        withdraw(context, "P2", "too late")
    with refuses("concluded-beside"):
        prioritise(context, "P2", 3)


def test_after_the_merge_the_users_branch_is_the_campaigns_again() -> None:
    stage = edited()
    go(stage)
    stage.workspace.refs["refs/heads/main"] = stage.workspace.refs[BESIDE]
    stage.workspace.edited = ""
    stage.queue("P4", "slow 600000")
    assert go(stage) == ["P4 KEEP"]
    assert stage.kernel() == "slow 600000"


def test_a_branch_of_ones_own_from_the_start() -> None:
    stage = edited()
    home = stage.workspace.head()
    steps = run_all(stage.context(), target="", budget=Budget(), ask=nobody, pause=lambda _: None, branch="night")
    assert [said(step) for step in steps][:3] == ["beside: night", "P1 KEEP", "P2 REJECT"]
    assert (stage.workspace.head(), stage.workspace.local_changes) == (home, ("src/kernel",))
    assert "experiments/P2/record.json" in stage.workspace.commits[stage.workspace.refs["refs/heads/night"]].files
    with refuses("campaign-branch-checked-out"):
        next(run_all(stage.context(), target="", budget=Budget(), ask=nobody, branch="main"))


def test_it_follows_what_is_committed_at_home() -> None:
    stage = edited()
    campaign = Campaign(stage.context())
    campaign.go_to("expctl/main", "a test")
    assert not campaign.follow(), "nothing is new"
    stage.workspace.edit({"notes": b"forward", "ledger.md": b"theirs"})
    assert campaign.follow(), "a fast-forward"
    assert stage.workspace.refs[BESIDE] == stage.workspace.head()
    assert run_experiment(campaign.context, "P1").record.verdict is Verdict.KEEP
    stage.workspace.edit({"notes": b"mine", "ledger.md": b"theirs again"})
    assert campaign.follow(), "a merge"
    files = stage.workspace.commits[stage.workspace.refs[BESIDE]].files
    assert (files["notes"], files["src/kernel"], files["ledger.md"]) == (b"mine", b"slow 900000", b"P1 KEEP")
    assert stage.workspace.is_ancestor("refs/heads/main", BESIDE), "it comes home by a fast-forward"


def test_lines_that_both_changed_are_said_once_and_nothing_moves() -> None:
    stage = edited()
    campaign = Campaign(stage.context())
    campaign.go_to("expctl/main", "a test")
    run_experiment(campaign.context, "P1")
    before = stage.workspace.refs[BESIDE]
    stage.workspace.edit({"src/kernel": b"slow 5"})
    said_before = len(stage.progress.lines)
    assert (campaign.follow(), campaign.follow()) == (False, False)
    assert stage.workspace.refs[BESIDE] == before
    (line,) = stage.progress.lines[said_before:]
    assert "main and expctl/main changed the same lines of src/kernel" in line
    found = follow(seen_from(stage.context(), "expctl/main"), "main")
    assert isinstance(found, Failed)
    assert found.reason in line


def test_a_ticket_that_both_changed_is_the_one_at_home() -> None:
    stage = edited()
    campaign = Campaign(stage.context())
    campaign.go_to("expctl/main", "a test")
    prioritise(campaign.context, "P3", 7)
    prioritise(stage.context(), "P3", 5)
    ticket = stage.workspace.commits[stage.workspace.head()].files["experiments/P3/queued.json"]
    assert campaign.follow()
    assert stage.workspace.commits[stage.workspace.refs[BESIDE]].files["experiments/P3/queued.json"] == ticket


def test_what_is_being_measured_is_not_withdrawn() -> None:
    stage = edited()
    stage.locks.running = "P1"
    head = stage.workspace.head()
    with refuses("experiment-being-measured"):
        withdraw(stage.context(), "P1", "no need")
    assert stage.workspace.head() == head
    withdraw(stage.context(), "P2", "no need")
    assert stage.workspace.head() != head
