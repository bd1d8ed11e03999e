"""The command line: each verb (run, status, ...) has a file of its own, which is imported only when that verb is used.

Verbs that are used all day start without the library typer if they have no options, because importing it takes long.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

from expctl.cli.console_errors import guard
from expctl.domain.errors import ExitStatus

if TYPE_CHECKING:
    import typer

# Verb -> module and name in it, in the order of --help.
VERBS = {
    "run": "run:run",
    "try": "try_patch:try_patch",
    "calibrate": "calibrate:calibrate",
    "audit": "audit:audit",
    "status": "status:status",
    "brief": "brief:brief",
    "new": "new:new",
    "queue": "queue:queue",
    "withdraw": "withdraw:withdraw",
    "show": "show:show",
    "ledger": "ledger:ledger",
    "replay": "replay:replay",
    "rules": "rules:app",
    "compare": "compare:compare",
    "inspect": "inspect:inspect",
    "occupancy": "occupancy:occupancy",
    "profile": "profile.group:app",
    "finding": "finding:finding",
    "gate": "gate:gate",
    "doctor": "doctor:doctor",
    "import": "import_ledger:import_ledger",
    "init": "init:init",
    "harness": "harness:app",
}


def application(words: Sequence[str] = ()) -> typer.Typer:
    """Return the typer application with only the subcommand that `words` begin with, or with all subcommands."""
    from importlib import import_module

    import typer

    app = typer.Typer(
        name="expctl",
        help="Runs optimization experiments on a GPU kernel and keeps the only trustworthy account of them.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(lambda: None)  # without a callback, typer drops the name of a single verb
    for verb in words[:1] if words and words[0] in VERBS else VERBS:
        file, _, name = VERBS[verb].partition(":")
        module = import_module(f"expctl.cli.{file}")
        vars(module)["typer"] = typer  # some modules use typer in annotations without importing it
        found = getattr(module, name)
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=verb)
        else:
            app.command(verb, cls=getattr(module, "ShowCommand", None))(found)
    return app


def command_without_typer(words: Sequence[str]) -> Callable[[], object] | None:
    """Return the function that runs the command line `words`, if they have no options; None if typer must parse them."""
    match words:
        case ["status"]:
            from expctl.cli.status import status

            return status
        case ["brief"]:
            from expctl.cli.brief import brief

            return brief
        case ["ledger", *check] if check in ([], ["--check"]):
            from expctl.cli.ledger import ledger

            return partial(ledger, check=bool(check))
        case ["rules", "check", patch] if not patch.startswith("-"):
            from expctl.cli.rules_check import check as check_rules

            return partial(check_rules, Path(patch))
    return None


def main() -> None:
    """Run the command line of expctl and end the process with its exit status."""
    _prepare_output()
    words = sys.argv[1:]
    quick = command_without_typer(words)
    if quick is not None:
        sys.exit(guard(quick))
    import click

    status_of_usage = ExitStatus.CONCLUDED

    def command() -> None:
        nonlocal status_of_usage
        try:
            code = application(words)(standalone_mode=False)
            status_of_usage = ExitStatus(code) if isinstance(code, int) else ExitStatus.CONCLUDED
        except click.ClickException as error:
            print(
                f"Error [usage]: {error.format_message()}\n  {'next':<9} expctl --help, or expctl COMMAND --help",
                file=sys.stderr,
            )
            status_of_usage = ExitStatus.USAGE
        except (click.Abort, click.exceptions.Exit) as end:
            status_of_usage = ExitStatus(getattr(end, "exit_code", ExitStatus.INTERRUPTED))
        except SystemExit as end:  # typer's reaction to a closed standard output
            raise BrokenPipeError from end

    ended = guard(command)
    sys.exit(ended or int(status_of_usage))


def _prepare_output() -> None:
    """Make standard output escape characters that its encoding can't show; send it to /dev/null if it is closed."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    elif sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115  open until the process ends
