"""`expctl gate`: what would block a measurement now."""

from typing import Annotated

import typer


def gate(as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON.")] = False) -> None:
    """What would block a measurement now. Exit status 0 when quiet, 75 when not."""
    from expctl import wiring
    from expctl.cli.output import print_json, print_lines
    from expctl.domain.errors import ExitStatus
    from expctl.views.report import foreign_lines

    place = wiring.here()
    git = wiring.reader(place)
    protocol = wiring.library(git).protocol(git.head())
    machine = wiring.gate(place, protocol.gate.patterns)
    foreign, measuring = machine.foreign(), machine.measured_by()
    if as_json:
        print_json({"quiet": not foreign and not measuring, "processes": foreign, "lock": measuring})
    else:
        blocked = [*foreign_lines(foreign), *([f"  {measuring} is measuring"] if measuring else [])]
        print_lines([f"blocked, looking for {', '.join(protocol.gate.patterns)}", *blocked] if blocked else ["quiet"])
    if foreign or measuring:
        raise typer.Exit(int(ExitStatus.BUSY))
