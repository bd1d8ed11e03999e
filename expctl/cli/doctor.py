"""The command `expctl doctor`: report what is wrong, and the command that repairs it. `doctor env` audits the environment."""

from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from expctl.domain.checkup import Finding

app = typer.Typer(invoke_without_command=True, rich_markup_mode=None)


@app.callback()
def doctor(
    ctx: typer.Context,
    clear: Annotated[bool, typer.Option("--clear", help="First clear what dead runs of expctl left here.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON.")] = False,
) -> None:
    """Check unfinished runs, git refs, worktrees, locks, records, ledger.md and this machine. Exit 1 if anything is wrong."""
    if ctx.invoked_subcommand is not None:
        return
    from expctl import wiring

    place = wiring.here()
    if clear:
        wiring.clear(place)
    _report(wiring.checkup(place), as_json, schema="doctor/1")


@app.command("env", short_help="Audit variables, cards, Linux and torch, item by item.")
def env(
    program: Annotated[
        str, typer.Option("--script", metavar="'FILE ARGS'", help="Run this Python program, and report its graph breaks.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON.")] = False,
) -> None:
    """Audit the environment in which steps run, with the reason and the fix of each item (docs/ENVIRONMENT.md lists them).

    Outside of a repository with a protocol it audits this shell. Where the steps use torch, torch is asked too, which takes
    seconds. Exit 1 if anything is wrong; advice alone is 0.
    """
    from expctl import wiring

    _report(wiring.environment_audit(_words(program)), as_json, schema="doctor-env/1")


@app.command("walls", short_help="Try each forbidden act in a child that is confined as a candidate is.")
def walls(as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON.")] = False) -> None:
    """Start a child in the walls of a candidate, let it try each forbidden act, and look from outside what was stopped.

    It acts on files and processes made for that alone, and needs no repository. Exit 1 if anything wasn't stopped.
    """
    from expctl import wiring
    from expctl.flow.doctor import walls_findings

    found = wiring.walls_tried()
    facts = {"digest": found.digest, "confinement": found.confinement, "attempts": found.attempts}
    _report(tuple(walls_findings(found, wiring.confinement().gaps())), as_json, schema="doctor-walls/1", facts=facts)


def _words(program: str) -> tuple[str, ...]:
    import shlex

    from expctl.domain.errors import Misused

    try:
        words = tuple(shlex.split(program))
    except ValueError:
        words = ("",)
    if words and not Path(words[0]).is_file():
        raise Misused(
            "--script names no Python program",
            code="doctor-script-missing",
            expected="a file and its arguments, in one pair of quotes",
            found=program[:60],
            hint="expctl doctor env --script 'bench/run.py --size 512'",
        )
    return (str(Path(words[0]).resolve()), *words[1:]) if words else ()


def _report(
    found: "Sequence[Finding]", as_json: bool, *, schema: str, facts: "Mapping[str, object]" = MappingProxyType({})
) -> None:
    from expctl.cli.output import print_result
    from expctl.domain.checkup import Health

    lines = [line for each in found for line in _lines(each)]
    print_result({"checks": found, **facts}, lambda: lines, as_json, schema=schema)
    if any(each.health is Health.WRONG for each in found):
        raise typer.Exit(1)


def _lines(finding: "Finding") -> list[str]:
    from expctl.domain.text import one_line

    beside = [(word, text) for word, text in (("why", finding.why), ("next", finding.mend)) if text]
    lines = [f"{finding.health:<7} {finding.part:<12} {one_line(finding.what)}"]
    return lines + [f"{'':<7} {word:<12} {one_line(text)}" for word, text in beside]
