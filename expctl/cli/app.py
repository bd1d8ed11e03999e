"""The command line: one verb per file. Nothing heavy is imported before a verb runs."""

import sys

import typer

from expctl.cli import (
    audit,
    brief,
    calibrate,
    compare,
    doctor,
    finding,
    gate,
    import_ledger,
    init,
    inspect,
    ledger,
    new,
    occupancy,
    profile,
    queue,
    replay,
    rules,
    run,
    show,
    status,
    withdraw,
)
from expctl.cli.console_errors import guard
from expctl.domain.errors import ExitStatus

app = typer.Typer(
    name="expctl",
    help="Runs optimization experiments on a GPU kernel and keeps the only trustworthy account of them.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(run.run)
app.command()(calibrate.calibrate)
app.command()(audit.audit)
app.command()(status.status)
app.command()(brief.brief)
app.command()(new.new)
app.command()(queue.queue)
app.command()(withdraw.withdraw)
app.command(cls=show.ShowCommand)(show.show)
app.command()(ledger.ledger)
app.command()(replay.replay)
app.add_typer(rules.app, name="rules")
app.command()(compare.compare)
app.command()(inspect.inspect)
app.command()(occupancy.occupancy)
app.add_typer(profile.app, name="profile")
app.add_typer(finding.finding, name="finding")
app.command()(gate.gate)
app.command()(doctor.doctor)
app.command("import")(import_ledger.import_ledger)
app.command()(init.init)


def main() -> None:
    """Entry point: runs the command and exits with its status."""
    import click

    status_of_usage = ExitStatus.CONCLUDED

    def command() -> None:
        nonlocal status_of_usage
        try:
            code = app(standalone_mode=False)
            status_of_usage = ExitStatus(code) if isinstance(code, int) else ExitStatus.CONCLUDED
        except click.ClickException as error:
            print(f"Error: {error.format_message()}\n  {'next':<9} expctl --help, or expctl COMMAND --help", file=sys.stderr)
            status_of_usage = ExitStatus.USAGE
        except (click.Abort, click.exceptions.Exit) as end:
            status_of_usage = ExitStatus(getattr(end, "exit_code", ExitStatus.INTERRUPTED))

    ended = guard(command)
    sys.exit(ended or int(status_of_usage))
