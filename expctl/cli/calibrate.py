"""The command `expctl calibrate`: measure this machine's noise, and what effect it can detect."""

from typing import Annotated

import typer

from expctl.domain.protocol.calibration_rounds import ROUNDS, ROUNDS_LEAST


def calibrate(
    target: Annotated[str, typer.Option(help="Default: the first available in `decides` of protocol.yaml.")] = "",
    rounds: Annotated[int, typer.Option(min=ROUNDS_LEAST, max=1000, help="Rounds without foreign work.")] = ROUNDS,
    wait: Annotated[
        float | None, typer.Option(min=0, metavar="S", help="Wait S seconds at most for a quiet machine; default: gate.wait_s.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON; progress goes to standard error.")] = False,
) -> None:
    """Measure HEAD against itself and store the noise of this machine in the user's state folder; `run` uses it."""
    import sys

    from expctl import wiring
    from expctl.adapters.machine.signals import Interruption
    from expctl.cli.output import print_json, print_lines
    from expctl.flow.measuring.calibrate import calibrate as measure
    from expctl.views.calibration import calibration_lines, warnings
    from expctl.views.console import ConsoleProgress

    stream = sys.stderr if as_json else sys.stdout
    with Interruption("expctl calibrate starts over") as interruption, ConsoleProgress(stream) as progress:
        context = wiring.context(wiring.here(), progress, stop_requested=interruption.requested, wait_s=wait)
        stored = measure(context, target=target, rounds=rounds)
    if as_json:
        found = stored.calibration
        detects = {name: {n: found.mde_percent(n, name) for n in (10, 36)} for name in found.noise}
        facts = {"calibration": found, "mde_percent": detects, "warnings": warnings(found), "path": str(stored.path)}
        print_json(facts, schema="calibrate/1")
    else:
        print_lines(calibration_lines(stored.calibration, str(stored.path)))
