"""The command `expctl withdraw`: take a proposal out of the queue. Its id stays taken."""

from typing import Annotated

import typer

from expctl.cli.experiment_ids import experiment_ids


def withdraw(
    experiment: Annotated[str, typer.Argument(metavar="ID", help="A queued experiment.", autocompletion=experiment_ids)],
    why: Annotated[str, typer.Option(help="The reason, for the ledger.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON.")] = False,
) -> None:
    """Take a proposed experiment out of the queue, in a commit with the reason. An unfinished run of it is given up."""
    import sys

    from expctl import wiring
    from expctl.cli.output import after, print_result
    from expctl.domain.errors import Misused
    from expctl.domain.experiment.ids import check_id
    from expctl.domain.text import plain_text
    from expctl.flow.queue.edit_queue import withdraw as take_out
    from expctl.views.console import ConsoleProgress
    from expctl.views.queue import queue_lines

    check_id(experiment)
    if not plain_text(why):
        raise Misused(
            "a withdrawal needs a reason",
            code="withdraw-without-reason",
            expected="--why with the reason, in some words",
            found="none",
            hint=f"expctl withdraw {experiment} --why 'P9 does the same'",
        )
    entry = take_out(wiring.context(wiring.here(), ConsoleProgress(sys.stderr)), experiment, why)
    facts = {"id": entry.id, "state": entry.state.value, "why": entry.why}
    with after(f"{entry.id} is withdrawn"):
        print_result(facts, lambda: queue_lines((entry,)), as_json, schema="withdraw/1")
