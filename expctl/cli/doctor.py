"""The command `expctl doctor`: report what is wrong, and the command that repairs it."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from expctl.domain.checkup import Finding


def doctor(
    clear: Annotated[bool, typer.Option("--clear", help="First clear what dead runs of expctl left here.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON.")] = False,
) -> None:
    """Check unfinished runs, git refs, worktrees, locks, records, ledger.md and this machine. Exit 1 if anything is wrong."""
    from expctl import wiring
    from expctl.cli.output import print_result
    from expctl.domain.checkup import Health

    place = wiring.here()
    if clear:
        wiring.clear(place)
    found = wiring.checkup(place)
    lines = [line for each in found for line in _lines(each)]
    print_result({"checks": found}, lambda: lines, as_json, schema="doctor/1")
    if any(each.health is Health.WRONG for each in found):
        raise typer.Exit(1)


def _lines(finding: "Finding") -> list[str]:
    from expctl.domain.text import one_line

    lines = [f"{finding.health:<7} {finding.part:<12} {one_line(finding.what)}"]
    return [*lines, f"{'':<7} {'next':<12} {one_line(finding.mend)}"] if finding.mend else lines
