"""`expctl run`: run or resume experiments."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from expctl.flow.run import Outcome
    from expctl.flow.world import World


def run(
    ids: Annotated[list[str] | None, typer.Argument(metavar="ID...", help="Experiments, in the order given.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Go on until the queue is empty or a budget ends.")] = False,
    target: Annotated[str, typer.Option(help="The target that decides; default: the first available of protocol.yaml.")] = "",
    again: Annotated[bool, typer.Option("--again", help="Replicate a concluded experiment as evidence.")] = False,
    max_experiments: Annotated[int, typer.Option(min=0, help="With --all: stop after so many verdicts.")] = 0,
    max_hours: Annotated[float, typer.Option(min=0, help="With --all: start nothing after so many hours.")] = 0.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON; progress goes to standard error.")] = False,
) -> None:
    """Run or resume experiments: gate, build, test, benchmark, profile, verdict, record."""
    import sys

    from expctl import wiring
    from expctl.adapters.interruption import Interruption
    from expctl.domain.errors import Misused
    from expctl.domain.experiment import check_id
    from expctl.flow.run import run_experiment
    from expctl.views.console import ConsoleProgress

    wanted = [check_id(experiment) for experiment in ids or []]
    if bool(wanted) == everything:
        raise Misused(
            "run what?", expected="one or more ids, or --all", found="both" if everything else "neither", hint="expctl status"
        )
    progress = ConsoleProgress(sys.stderr if as_json else sys.stdout)
    with Interruption() as interruption:
        world = wiring.world(wiring.here(), progress, stop_requested=interruption.requested)
        if everything:
            outcomes = _run_queue(world, target, max_experiments, max_hours, as_json)
        else:
            _check_all(world, wanted)
            outcomes = [_one(run_experiment(world, each, target=target, again=again), as_json) for each in wanted]
    if as_json:
        from expctl.cli.output import print_json

        print_json(outcomes)


def _one(outcome: "Outcome", as_json: bool) -> "Outcome":
    from expctl.cli.output import print_lines
    from expctl.views.report import verdict_lines

    if not as_json:
        record = outcome.record
        lines = verdict_lines(record)
        if not outcome.measured:
            lines.insert(0, f"{record.id}  concluded on {record.date or 'an unknown day'}; --again replicates it")
        elif outcome.head_before != outcome.head_after:
            lines.append(f"  {outcome.branch:<10} {outcome.head_before[:7]} -> {outcome.head_after[:7]}, ledger.md updated")
        print_lines(lines)
    return outcome


def _check_all(world: "World", wanted: list[str]) -> None:
    """Raises Refused when one of several ids is not there, before the first runs."""
    head = world.workspace.head()
    for experiment in wanted[1:]:
        if world.library.record(head, experiment) is None:
            world.library.queued(head, experiment)


def _run_queue(world: "World", target: str, max_experiments: int, max_hours: float, as_json: bool) -> "list[object]":
    import sys

    from expctl.cli.console_errors import explain
    from expctl.domain.errors import Interrupted
    from expctl.flow.autopilot import Budget, Skipped, run_all

    outcomes: list[object] = []
    for outcome in run_all(world, target=target, budget=Budget(experiments=max_experiments, hours=max_hours)):
        if isinstance(outcome, Skipped):
            print(f"{outcome.id}  not run", file=sys.stderr)
            explain(outcome.refusal)
            outcomes.append({"id": outcome.id, "skipped": outcome.refusal.message})
        else:
            outcomes.append(_one(outcome, as_json))
    if not outcomes and not as_json:
        print("the queue is empty; expctl new ID --from-diff fills it")
    if world.stop_requested():
        raise Interrupted("the queue was stopped; expctl run --all goes on from there")
    return outcomes
