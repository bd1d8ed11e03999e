"""The command line: each verb (run, status, ...) has a file of its own, which is imported only when that verb is used.

Verbs that are used all day start without the library typer if they have no options, because importing it takes long.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, cast

from expctl.cli.console_errors import guard
from expctl.domain.errors import ExitStatus

if TYPE_CHECKING:
    import typer

# Verb -> module and name in it. Its sentence in the help of `expctl` stands in overview.py.
VERBS = {
    "run": "run:run",
    "try": "try_patch:try_patch",
    "calibrate": "calibrate:calibrate",
    "audit": "audit:audit",
    "status": "status:status",
    "brief": "brief:brief",
    "report": "night.report:report",
    "new": "new:new",
    "queue": "queue:queue",
    "withdraw": "withdraw:withdraw",
    "show": "show:show",
    "ledger": "ledger:ledger",
    "replay": "evidence.replay:replay",
    "verify": "evidence.verify:verify",
    "rules": "rules:app",
    "compare": "compare:compare",
    "check": "check:check",
    "explain": "explain:explain",
    "inspect": "inspect:inspect",
    "occupancy": "occupancy:occupancy",
    "profile": "profile.group:app",
    "finding": "finding:finding",
    "gate": "gate:gate",
    "rivals": "rivals:rivals",
    "suite": "suite:app",
    "tune": "tune.command:app",
    "fleet": "fleet.group:app",
    "doctor": "doctor:app",
    "import": "import_ledger:import_ledger",
    "init": "init:init",
    "harness": "harness:app",
    "mcp": "agents.mcp:mcp",
    "agents": "agents.group:app",
}
COMPLETION = ("--install-completion", "--show-completion")
COMPLETES = "_EXPCTL_COMPLETE"  # set by the completion script, together with one of the following
SUGGESTED_TWICE = r"( Did you mean [^?]*\?)\1"  # by typer 0.24 and by click 8.5 below it
OBJECTS_UNLOOKED = 50_000
"""Objects that a quick command may make before Python looks for cycles among them: modules have none that end."""
TYPED_WORDS = ("COMP_WORDS", "_TYPER_COMPLETE_ARGS")


def application(words: Sequence[str] = (), *, completion: bool = False) -> typer.Typer:
    """Return the typer application with only the subcommand that `words` begin with, or with all subcommands. With
    `completion` it can complete command lines and has the options of COMPLETION, which costs time.
    """
    from importlib import import_module

    import typer

    from expctl.cli.overview import SENTENCES

    app = typer.Typer(
        name="expctl",
        add_completion=completion,
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
            app.add_typer(found, name=verb, short_help=SENTENCES[verb])
        else:
            app.command(verb, short_help=SENTENCES[verb], cls=getattr(module, "ShowCommand", None))(found)
    return app


def command_without_typer(words: Sequence[str]) -> Callable[[], object] | None:
    """Return the function that runs the command line `words`, if they have no options; None if typer must parse them."""
    match words:
        case [] | ["-h" | "--help", *_]:
            return _print_overview
        case ["--version", *_]:
            return _print_version
        case ["status"]:
            from expctl.cli.status import status

            return status
        case ["brief"]:
            from expctl.cli.brief import brief

            return brief
        case ["ledger", *check] if check in ([], ["--check"]):
            from expctl.cli.ledger import ledger

            return partial(ledger, check=bool(check))
        case ["rules", "check", patch, *json] if not patch.startswith("-") and json in ([], ["--json"]):
            from expctl.cli.rules_check import check_quickly

            return partial(check_quickly, Path(patch), as_json=bool(json))
        case [verb, *_] if verb not in VERBS and not verb.startswith("-"):
            return partial(_refuse_verb, verb)
    return None


def _import_msgspec() -> None:
    """Import msgspec as it is where typing_extensions isn't installed: of that it uses what has been in `typing` since Python
    3.11, and importing it takes a tenth of a quick command.
    """
    name = "typing_extensions"
    if name in sys.modules or "msgspec" in sys.modules:
        return
    sys.modules[name] = None  # type: ignore[assignment]  # how Python marks a module that can't be imported
    try:
        import msgspec  # noqa: F401
    finally:
        del sys.modules[name]


def usage_error() -> type[typer.BadParameter]:
    """Return the class of typer's messages about a wrong command line (format_message gives the text). It is click's, or
    that of the click inside typer (since 0.26), and no release of typer exports its name.
    """
    import typer

    _, _, error, *_ = typer.BadParameter.__mro__
    return cast("type[typer.BadParameter]", error)


def main() -> None:
    """Run the command line of expctl and end the process with its exit status."""
    _prepare_output()
    completes = COMPLETES in os.environ
    words = _typed_words() if completes else sys.argv[1:]
    quick = None if completes else command_without_typer(words)
    if quick is not None:
        gc.set_threshold(OBJECTS_UNLOOKED)
        _import_msgspec()
        ended = guard(quick)
        gc.freeze()  # else the end of Python looks for cycles in all that is left
        sys.exit(ended)
    import typer

    wrong_usage, status_of_usage = usage_error(), ExitStatus.CONCLUDED

    def command() -> None:
        nonlocal status_of_usage
        try:
            app = application(words, completion=completes or words[0] in COMPLETION)
            code = app(prog_name="expctl", standalone_mode=False)
            status_of_usage = ExitStatus(code) if isinstance(code, int) else ExitStatus.CONCLUDED
        except wrong_usage as error:
            wanted = f"expctl {words[0]} --help" if words[0] in VERBS else "expctl --help"
            import re

            text = re.sub(SUGGESTED_TWICE, r"\1", error.format_message())
            print(f"Error [usage]: {text}\n  {'next':<9} {wanted}", file=sys.stderr)
            status_of_usage = ExitStatus.USAGE
        except (typer.Abort, typer.Exit) as end:
            status_of_usage = ExitStatus(getattr(end, "exit_code", ExitStatus.INTERRUPTED))
        except SystemExit as end:  # typer's reaction to a closed standard output
            raise BrokenPipeError from end
        if status_of_usage is ExitStatus.INTERRUPTED:  # typer's reaction to Ctrl-C
            raise KeyboardInterrupt

    ended = guard(command)
    sys.exit(ended or int(status_of_usage))


def _print_overview() -> None:
    from importlib.util import find_spec

    from expctl.cli.output import print_lines
    from expctl.cli.overview import overview_lines

    print_lines(overview_lines(VERBS, find_spec))


def _print_version() -> None:
    from importlib.metadata import version

    from expctl.cli.output import print_lines

    print_lines([f"expctl {version('expctl')}"])


def _refuse_verb(verb: str) -> None:
    from difflib import get_close_matches

    from expctl.domain.errors import Misused
    from expctl.domain.text import one_line

    near = get_close_matches(verb, VERBS, n=1)
    raise Misused(
        "expctl has no such command",
        code="unknown-command",
        expected="one of the commands that expctl --help lists",
        found=one_line(verb, 60),
        hint=f"expctl {near[0]} --help" if near else "expctl --help",
    )


def _typed_words() -> list[str]:
    """Return the words after `expctl` on the command line that a shell completes."""
    return next((os.environ[name] for name in TYPED_WORDS if name in os.environ), "").split()[1:]


def _prepare_output() -> None:
    """Make standard output escape characters that its encoding can't show; send it to /dev/null if it is closed."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    elif sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115  open until the process ends
