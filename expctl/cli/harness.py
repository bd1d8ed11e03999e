"""The command `expctl harness check`: does the harness in the work tree work?"""

from typing import Annotated

import typer

app = typer.Typer(help="Check the harness of a kernel before the first experiment.", no_args_is_help=True)


@app.callback()
def harness() -> None:
    """Check the harness of a kernel before the first experiment."""


@app.command()
def check(
    target: Annotated[str, typer.Option(help="The target to try; default: the first that is available here.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON.")] = False,
) -> None:
    """Build, test and time the work tree against itself, in seconds; say what is wrong as expected, found and line.

    Nothing is committed, recorded or decided. Files that git ignores are not seen, as in a run.
    """
    from expctl import wiring
    from expctl.cli.output import print_json, print_lines
    from expctl.domain.text import one_line

    found = []
    for each in wiring.harness_check(wiring.here(), target):
        found.append(each)
        if not as_json:
            lines = [f"ok    {each.part:<10} {one_line(each.what, 200)}"]
            print_lines([*lines, f"note  {'':<10} {one_line(each.remark, 300)}"] if each.remark else lines)
    if as_json:
        print_json({"ok": True, "parts": found}, schema="harness-check/1")
    else:
        print_lines(["next  commit protocol.yaml, harness and kernel; then edit the kernel and expctl new --from-diff"])
