"""The command `expctl run`: run or resume experiments."""

from typing import TYPE_CHECKING, Annotated

import typer

from expctl.cli.experiment_ids import experiment_ids

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from expctl.adapters.git.reader import Place
    from expctl.flow.autopilot.budget import Budget
    from expctl.flow.autopilot.steps import Step
    from expctl.ports.context import Context


def run(
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID...", help="Experiments, in the order given.", autocompletion=experiment_ids),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Go on until the queue is empty or a budget ends.")] = False,
    target: Annotated[
        str, typer.Option(help="The target whose times decide; default: the first available in `decides` of protocol.yaml.")
    ] = "",
    again: Annotated[bool, typer.Option("--again", help="Replicate a concluded experiment as evidence.")] = False,
    extend: Annotated[
        bool, typer.Option("--extend", help="Go on with INCONCLUSIVE experiments from the samples they have.")
    ] = False,
    blind: Annotated[
        int, typer.Option(min=0, metavar="N", help="Run N blind slots now: HEAD against itself, or with a planted slow-down.")
    ] = 0,
    max_experiments: Annotated[int | None, typer.Option(min=1, help="With --all: stop after so many verdicts.")] = None,
    max_hours: Annotated[float | None, typer.Option(min=0, help="With --all: start nothing after so many hours.")] = None,
    stop_after: Annotated[
        int | None, typer.Option(min=1, help="With --all: stop after so many REJECTs without a KEEP between.")
    ] = None,
    propose: Annotated[
        int, typer.Option(min=0, metavar="N", help="With --all: ask the proposer up to N times when nothing else can run.")
    ] = 0,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="With --propose: don't ask again after so many tokens.")] = None,
    max_money: Annotated[float | None, typer.Option(min=0, help="With --propose: don't ask again after so much money.")] = None,
    branch: Annotated[
        str | None, typer.Option(metavar="NAME", help="With --all: land on this branch; yours and your files stay as they are.")
    ] = None,
    on: Annotated[
        str, typer.Option(metavar="fleet", help="With --all: on the devices that have joined (expctl fleet up|join).")
    ] = "",
    confirm: Annotated[
        bool, typer.Option("--confirm", help="With --on fleet: measure each KEEP once more on another device, as evidence.")
    ] = False,
    silent: Annotated[float, typer.Option("--silent", min=5, hidden=True, help="Seconds after which a worker is lost.")] = 30.0,
    notify: Annotated[str, typer.Option(metavar="CMD", help="Run CMD (no shell) after each outcome, JSON on its input.")] = "",
    wait: Annotated[
        float | None, typer.Option(min=0, metavar="S", help="Wait S seconds at most for a quiet machine; default: gate.wait_s.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON; progress goes to standard error.")] = False,
) -> None:
    """Run or resume experiments: wait for a quiet machine, build, test, measure, decide, profile, commit the record."""
    import math
    import sys
    from functools import partial

    from expctl import wiring
    from expctl.adapters.machine.signals import Interruption
    from expctl.cli.run_report import facts, step_printer
    from expctl.domain.errors import Misused
    from expctl.domain.experiment.ids import check_id
    from expctl.flow.autopilot.budget import Budget
    from expctl.flow.run.experiment import Outcome
    from expctl.views.console import ConsoleProgress

    wanted = [check_id(experiment) for experiment in ids or []]
    if [bool(wanted), everything, bool(blind)].count(True) != 1:
        raise Misused(
            "run needs ids, --all or --blind",
            code="run-ids-or-all",
            expected="one of expctl run P15 P16, expctl run --all, expctl run --blind 3",
            found="none of them" if not wanted and not everything and not blind else "more than one",
            hint="expctl status lists the queued experiments",
        )
    budget = Budget(
        experiments=max_experiments or 0,
        hours=max_hours or 0.0,
        rejects=stop_after or 0,
        proposals=propose,
        tokens=max_tokens or 0,
        money=max_money or 0.0,
    )
    if branch is not None and not branch.strip():
        raise Misused("--branch has no name", code="branch-without-name", expected="--branch NAME", found="an empty word")
    if (budget != Budget() or branch is not None) and not everything:
        raise Misused(
            "--max-..., --stop-after, --propose and --branch only work with --all",
            code="budget-without-all",
            expected="--all, or none of these options",
            found=", ".join(wanted) or "--blind",
            hint="expctl run --all",
        )
    if confirm and not on:
        raise Misused(
            "--confirm asks another device",
            code="confirm-without-fleet",
            expected="expctl run --all --on fleet --confirm",
            found="no --on fleet",
            hint="expctl run ID --again measures a verdict once more on this machine",
        )
    if on and (on != "fleet" or not everything or propose or branch is not None):
        raise Misused(
            "--on takes fleet, and goes with --all, --target, --notify and the limits",
            code="on-what",
            expected="expctl run --all --on fleet, without --propose and --branch",
            found=f"--on {on}",
            hint="expctl run --all --on fleet",
        )
    if again and not wanted:
        raise Misused(
            "--again needs ids, because --all runs experiments without a verdict",
            code="again-without-ids",
            expected="--again with ids",
            found="--all" if everything else "--blind",
            hint="expctl run P16 --again",
        )
    if extend and (again or not wanted):
        raise Misused(
            "--extend needs ids, and can't be combined with --again",
            code="extend-not-alone",
            expected="--extend with ids: it goes on with a verdict, --again measures anew",
            found="--again" if again else "--all" if everything else "--blind",
            hint="expctl run P16 --extend",
        )
    for option, limit in (("--max-hours", max_hours), ("--max-money", max_money)):
        if limit is not None and not 0 < limit < math.inf:
            raise Misused(
                f"{option} takes a number above 0",
                code="not-a-budget",
                expected="a finite number above 0; without the option there is no limit",
                found=f"{limit:g}",
                hint=f"expctl run --all {option} 8",
            )
    place = wiring.here()
    on_step = step_printer(as_json, _notifier(place, notify))
    done: list[object] = []
    with Interruption() as interruption, ConsoleProgress(sys.stderr if as_json else sys.stdout) as progress:
        context = wiring.context(place, progress, stop_requested=interruption.requested, wait_s=wait)
        run_listed = partial(_run_listed, context, wanted, target, again=again, extend=extend)
        place.head or wiring.reader(place).head()  # a repository without a commit is refused in one way
        if on:
            steps = _fleet(context, place, target, budget, silent, confirms=confirm)
        elif blind:
            steps = _blind(context, blind, target)
        else:
            steps = _queue(context, place, target, budget, branch or "") if everything else run_listed()
        for step in steps:
            progress.wipe()
            on_step(step)
            done.append(step if isinstance(step, Outcome) else facts(step))
    if as_json:
        from expctl.cli.output import print_json

        print_json({"steps": done}, schema="run/1")


def _run_listed(context: "Context", wanted: list[str], target: str, *, again: bool, extend: bool) -> "Iterator[Step]":
    """Run the experiments `wanted` in order, yielding each outcome. Raises Refused, before the first, if one doesn't exist."""
    from expctl.flow.run.experiment import run_experiment

    head = context.workspace.head()
    for experiment in wanted[1:]:
        if context.library.record(head, experiment) is None:
            context.library.queued(head, experiment)
    for experiment in wanted:
        yield run_experiment(context, experiment, target=target, again=again, extend=extend)


def _blind(context: "Context", count: int, target: str) -> "Iterator[Step]":
    from expctl.flow.autopilot.blind_slot import run_blind

    return run_blind(context, count=count, target=target)


def _queue(context: "Context", place: "Place", target: str, budget: "Budget", branch: str) -> "Iterator[Step]":
    from expctl import wiring
    from expctl.domain.errors import Interrupted
    from expctl.flow.autopilot.run_all import run_all

    yield from run_all(
        context, target=target, budget=budget, ask=wiring.asking(place), branch=branch, night=wiring.night(place)
    )
    if context.stop_requested():
        raise Interrupted("the queue was stopped; expctl run --all goes on from there")


def _fleet(
    context: "Context", place: "Place", target: str, budget: "Budget", silent_s: float, *, confirms: bool
) -> "Iterator[Step]":
    from expctl import wiring_fleet

    started_s = context.clock.monotonic_s()

    def spent(done: int, rejects: int) -> str:
        if budget.experiments and done >= budget.experiments:
            return f"the budget of {budget.experiments} experiments is spent"
        if budget.hours and (context.clock.monotonic_s() - started_s) / 3600 >= budget.hours:
            return f"the budget of {budget.hours:g} hours is spent"
        return f"{rejects} REJECTs in a row" if budget.rejects and rejects >= budget.rejects else ""

    engine = wiring_fleet.engine()
    return wiring_fleet.head_steps(place, context, engine, target=target, silent_s=silent_s, spent=spent, confirms=confirms)


def _notifier(place: "Place", command: str) -> "Callable[[object], str] | None":
    """Return a function that runs `command` with facts as JSON and returns why that failed, or ""; None without a command.
    Raises Misused.
    """
    import shlex
    import shutil

    from expctl import wiring
    from expctl.domain.errors import Misused
    from expctl.domain.text import one_line

    try:
        argv = tuple(shlex.split(command))
    except ValueError as error:
        raise Misused(
            "--notify can't be split into words",
            code="notify-not-splittable",
            expected="a command line as for a shell, such as --notify 'notify.sh --mail'",
            found=str(error),
            hint="close the quotes",
        ) from error
    if argv and shutil.which(argv[0]) is None:  # better now than in the morning
        raise Misused(
            "--notify names no program",
            code="notify-not-found",
            expected="a program that may be executed: on PATH, or by its path",
            found=one_line(argv[0], 200),
            hint="chmod +x makes a script one; docs/NIGHT.md has three",
        )
    return wiring.notifier(place, argv).tell if argv else None
