"""The group `expctl agents`: what agents may do here, and what they are told."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from datetime import datetime

    from expctl.agents.grants import Grants

app = typer.Typer(invoke_without_command=True, rich_markup_mode=None)
AsJson = Annotated[bool, typer.Option("--json", help="Print facts as JSON.")]


@app.callback()
def agents(ctx: typer.Context) -> None:
    """Grant agents of `expctl mcp` what goes beyond a proposal, and write the files that tell agents how to work here."""
    if ctx.invoked_subcommand is None:
        print(ctx.get_help())


@app.command("grant", short_help="Allow a tool of `expctl mcp` until a time.")
def grant(
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="run (it measures and lands) or finding_add.")],
    until: Annotated[str, typer.Option(metavar="TIME", help="When it ends, such as 2026-02-18T08:00, at most a week.")] = "",
    hours: Annotated[float, typer.Option(metavar="H", help="Without --until: after so many hours.")] = 12.0,
    as_json: AsJson = False,
) -> None:
    """Allow a tool of `expctl mcp` until a time, in this repository. A running server offers it from then on."""
    from expctl.agents.grants import until_of
    from expctl.cli.output import print_result

    grants, now = _open()
    given = grants.give(tool, until_of(until, hours, now), now)
    facts = {"tool": given.tool, "until": given.until.isoformat(timespec="seconds")}
    print_result(facts, lambda: [f"{tool}  granted until {facts['until']}"], as_json, schema="agents-grant/1")


@app.command("revoke", short_help="Take a grant back.")
def revoke(tool: Annotated[str, typer.Argument(metavar="TOOL", help="run or finding_add.")], as_json: AsJson = False) -> None:
    """Take a grant back. What is under way goes on."""
    from expctl.cli.output import print_result

    grants, now = _open()
    held = grants.take(tool, now)
    said = "revoked" if held else "was not granted"
    print_result({"tool": tool, "held": held}, lambda: [f"{tool}  {said}"], as_json, schema="agents-revoke/1")


@app.command("grants", short_help="List what is granted, and until when.")
def grants(as_json: AsJson = False) -> None:
    """List what is granted, and until when."""
    from expctl.cli.output import print_result

    store, now = _open()
    held = {name: each.until.isoformat(timespec="seconds") for name, each in store.standing(now).items()}
    lines = [f"{name:<12} until {until}" for name, until in held.items()] or ["nothing is granted"]
    print_result({"grants": held}, lambda: lines, as_json, schema="agents-grants/1")


@app.command("setup", short_help="Write AGENTS.md and SKILL.md, or check them.")
def setup(
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 if a file is not what it should be.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write AGENTS.md and .agents/skills/expctl/SKILL.md from the committed protocol. Other text in AGENTS.md stays."""
    from expctl import wiring
    from expctl.agents import guidance
    from expctl.cli.output import print_result
    from expctl.domain.errors import Refused

    place = wiring.here()
    git = wiring.reader(place)
    protocol = wiring.library(git).protocol(git.found_head())
    if check:
        if found := guidance.stale(place.root, protocol):
            raise Refused(
                "what agents are told is not what expctl would write",
                code="guidance-stale",
                expected="the files that expctl agents setup writes",
                found=", ".join(f"another {path}, or none" for path in found),
                hint="expctl agents setup, and commit",
            )
        print_result(
            {"stale": []}, lambda: [f"{guidance.AGENTS} and {guidance.SKILL} are true"], as_json, schema="agents-setup/1"
        )
        return
    written = guidance.write(place.root, protocol)
    lines = [f"written  {path}" for path in written] or ["nothing to write: both files are true"]
    print_result({"written": written}, lambda: lines, as_json, schema="agents-setup/1")


def _open() -> "tuple[Grants, datetime]":
    from datetime import UTC, datetime

    from expctl import wiring
    from expctl.agents.grants import Grants

    return Grants(wiring.here().state), datetime.now(UTC)
