"""The command `expctl audit`: check whether the kept changes together still give the gains that were recorded for them."""

from typing import Annotated

import typer


def audit(
    target: Annotated[str, typer.Option(help="Default: the first available in `decides` of protocol.yaml.")] = "",
    leave_one_out: Annotated[
        bool, typer.Option("--leave-one-out", help="Also measure HEAD without each kept change, one at a time.")
    ] = False,
    bisect: Annotated[bool, typer.Option("--bisect", help="Also find the change at which a promised gain was lost.")] = False,
    record: Annotated[bool, typer.Option("--record", help="Keep the result as a finding, in a commit.")] = False,
    wait: Annotated[
        float | None, typer.Option(min=0, metavar="S", help="Wait S seconds at most for a quiet machine; default: gate.wait_s.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON; progress goes to standard error.")] = False,
) -> None:
    """Measure whether all kept changes together still give their recorded gains. Commits nothing without --record."""
    import sys

    from expctl import wiring
    from expctl.adapters.machine.signals import Interruption
    from expctl.cli.output import print_result
    from expctl.flow.audit import stack_audit as flow
    from expctl.views.audit import audit_lines
    from expctl.views.console import ConsoleProgress

    stream = sys.stderr if as_json else sys.stdout
    with Interruption("expctl audit starts over") as interruption, ConsoleProgress(stream) as progress:
        context = wiring.context(wiring.here(), progress, stop_requested=interruption.requested, wait_s=wait)
        found = flow.audit(context, flow.Asked(target=target, leave_one_out=leave_one_out, bisect=bisect))
        found = flow.record(context, wiring.findings_editor(), found) if record else found
    print_result(found, lambda: audit_lines(found), as_json, schema="audit/1")
