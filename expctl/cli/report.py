"""The command `expctl report`: what happened since an hour, as text: what ran, was kept, was learned, waits for a person."""

from typing import Annotated

import typer


def report(
    since: Annotated[
        str, typer.Option(metavar="WHEN", help="An hour of the last day (22:00), or a date (2026-02-18, 2026-02-18T22:00Z).")
    ] = "22:00",
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON.")] = False,
) -> None:
    """Report what happened since an hour: what ran, what was kept, what was learned, what waits for a person. Takes no lock."""
    from expctl import wiring
    from expctl.cli.output import print_result
    from expctl.cli.report_lines import report_lines
    from expctl.flow.autopilot.report import began_at, report_since

    place = wiring.here()
    git = wiring.reader(place)
    library, head = wiring.library(git), git.found_head()
    found = report_since(library, head, wiring.night(place).events(), since=began_at(since))
    print_result(found, lambda: list(report_lines(found)), as_json, schema="report/1")
