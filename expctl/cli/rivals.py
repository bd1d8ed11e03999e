"""The command `expctl rivals`: time what users would take instead of the kernel."""

from typing import Annotated

import typer


def rivals(
    target: Annotated[str, typer.Option(help="Default: the first available in `decides` of protocol.yaml.")] = "",
    last: Annotated[bool, typer.Option("--last", help="Measure nothing: print the newest that are committed.")] = False,
    wait: Annotated[
        float | None, typer.Option(min=0, metavar="S", help="Wait S seconds at most for a quiet machine; default: gate.wait_s.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON; progress goes to standard error.")] = False,
) -> None:
    """Time the kernel of HEAD beside what users would take instead, list the kernels of each, and commit the figures."""
    import sys

    from expctl import wiring
    from expctl.adapters.machine.signals import Interruption
    from expctl.cli.output import print_json, print_lines, terminal_width
    from expctl.flow.measuring.rivals import compare_rivals, newest_rivals
    from expctl.views.console import ConsoleProgress
    from expctl.views.rivals import rivals_lines

    stream = sys.stderr if as_json else sys.stdout
    with Interruption("expctl rivals starts over") as interruption, ConsoleProgress(stream) as progress:
        context = wiring.context(wiring.here(), progress, stop_requested=interruption.requested, wait_s=wait)
        if last:
            found, commit = newest_rivals(context, target=target), ""
        else:
            compared = compare_rivals(context, target=target)
            found, commit = compared.rivals, compared.commit
    if as_json:
        print_json({"rivals": found, "path": found.path, "commit": commit}, schema="rivals/1")
    else:
        print_lines([*rivals_lines(found, terminal_width()), "", f"  {'kept in':<10} {found.path}"])
