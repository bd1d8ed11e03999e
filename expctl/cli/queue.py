"""The command `expctl queue`: list proposals in the order in which they run, and why each waits; or set a priority."""

from typing import TYPE_CHECKING, Annotated

import typer

from expctl.cli.experiment_ids import experiment_ids

if TYPE_CHECKING:
    from expctl.domain.queue.ordering import Entry


def queue(
    experiment: Annotated[
        str,
        typer.Argument(metavar="[ID]", help="A queued experiment. Left out: the whole queue.", autocompletion=experiment_ids),
    ] = "",
    priority: Annotated[int | None, typer.Option(help="A larger one runs earlier; 0 is the default.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON.")] = False,
) -> None:
    """List the queue in the order in which it runs, or give one experiment another priority."""
    from expctl import wiring
    from expctl.cli.output import after, print_result
    from expctl.domain.errors import Misused
    from expctl.domain.experiment.ids import check_id
    from expctl.domain.experiment.queue_ticket import PRIORITY_MAX
    from expctl.flow.repository.pending import read_queue
    from expctl.views.queue import queue_lines

    if bool(experiment) is not (priority is not None):
        raise Misused(
            "an id and --priority only work together",
            code="priority-without-experiment",
            expected="both an id and --priority, or neither to list the queue",
            found=experiment or f"--priority {priority}",
            hint=f"expctl queue {experiment or 'ID'} --priority {10 if priority is None else priority}",
        )
    if abs(priority or 0) > PRIORITY_MAX:
        raise Misused(
            "this priority is too large",
            code="priority-too-large",
            expected=f"a whole number from {-PRIORITY_MAX} to {PRIORITY_MAX}",
            found=f"{priority}",
            hint=f"expctl queue {experiment} --priority 10",
        )
    place = wiring.here()
    if priority is None:
        git = wiring.reader(place)
        entries = read_queue(wiring.library(git), git.head()).entries()
    else:
        entries = (_moved(check_id(experiment), priority),)
    facts = {"entries": [_facts(each) for each in entries]}
    with after(f"{experiment} has priority {priority}" if experiment else "nothing was changed"):
        print_result(facts, lambda: queue_lines(entries), as_json, schema="queue/1")


def _moved(experiment: str, priority: int) -> "Entry":
    import sys

    from expctl import wiring
    from expctl.flow.queue.edit_queue import prioritise
    from expctl.views.console import ConsoleProgress

    return prioritise(wiring.context(wiring.here(), ConsoleProgress(sys.stderr)), experiment, priority)


def _facts(entry: "Entry") -> dict[str, object]:
    return {
        "id": entry.id,
        "title": entry.proposal.title,
        "state": entry.state.value,
        "why": entry.why,
        "priority": entry.priority,
        "depends_on": [{"condition": text, "truth": each.truth.value, "why": each.why} for text, each in entry.answers],
        "ticket": entry.ticket,
    }
