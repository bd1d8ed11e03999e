"""The command `expctl suite`: time a list of kernels and shapes in a named environment, and say what the list covers."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from expctl.suite.cases import SuiteCase
    from expctl.suite.measure import CaseTimes
    from expctl.suite.model import Suite

app = typer.Typer(rich_markup_mode=None, no_args_is_help=True)
File = Annotated[Path | None, typer.Option(metavar="FILE", help="Default: suite.yaml at the top of the repository.")]
Json = Annotated[bool, typer.Option("--json", help="Print facts as JSON; progress goes to standard error.")]


@app.callback()
def suite() -> None:
    """Time a list of kernels and shapes, so that two environments can be compared (docs/SUITE.md)."""


@app.command("run", short_help="Time every kernel and shape in one environment.")
def run(
    env: Annotated[str, typer.Option(metavar="NAME", help="One of `environments` in suite.yaml, such as golden or tot.")],
    kernel: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Only this kernel; may be repeated.")] = None,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where NAME.csv and NAME.json are written.")] = Path("results"),
    replace: Annotated[bool, typer.Option("--replace", help="Replace results that are there already.")] = False,
    file: File = None,
    wait: Annotated[
        float | None, typer.Option(min=0, metavar="S", help="Wait S seconds at most for a quiet machine; default: gate.wait_s.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Time every kernel and shape of suite.yaml in the environment NAME, each in 3 to 5 processes, on a quiet machine.

    Writes NAME.csv and NAME.json after each kernel and shape, which `expctl compare` reads. After a kill, the same command goes
    on with what is left. Exit 1 if one could not be timed.
    """
    import sys

    from expctl import wiring
    from expctl.adapters.machine.signals import Interruption
    from expctl.cli.output import print_json, print_lines, remove_file, terminal_width, write_file
    from expctl.domain.errors import ExitStatus
    from expctl.suite.results import environment_json, results_csv
    from expctl.suite.resume import identity, timed_before
    from expctl.suite.terminal import files_lines, times_lines
    from expctl.views.console import ConsoleProgress

    place = wiring.here()
    read = file or place.root / "suite.yaml"
    found = wiring.suite_in(read)
    cases = _chosen(found, env, kernel or [], read)
    results, environment = out / f"{env}.csv", out / f"{env}.json"
    asked = {"timed_on": found.timed_on, "timed_by": found.trace[0] if found.trace else "the benchmark"}
    asked |= {"warmups": str(found.warmups), "iterations": str(found.iterations), "cases": identity(cases)}
    times: tuple[CaseTimes, ...] = ()

    def before(facts: "Mapping[str, object]") -> "Sequence[CaseTimes]":
        nonlocal times
        times = () if replace else timed_before(results, environment, env, {**asked, **facts}, cases)
        if times:
            progress.step("suite", f"{len(times)} of {len(cases)} were timed before; --replace times them again")
        return times

    def told(facts: "Mapping[str, object]", so_far: "Sequence[CaseTimes]") -> None:
        nonlocal times
        if not times:  # of another environment they are never beside the facts of this one
            remove_file(results)
        times = tuple(so_far)
        write_file(environment, environment_json(env, {**asked, **facts}, times))
        write_file(results, results_csv(found, times))

    with (
        Interruption("the same command goes on with the kernels and shapes that are left") as interruption,
        ConsoleProgress(sys.stderr if as_json else sys.stdout) as progress,
    ):
        stop = interruption.requested
        wiring.suite_run(place, found, cases, env, progress, before=before, told=told, stop_requested=stop, wait_s=wait)
    if as_json:
        print_json({"env": env, "times": times, "results": str(results), "environment": str(environment)}, schema="suite/1")
    else:
        print_lines(["", *times_lines(found, times, terminal_width()), *files_lines(results, environment)])
    if any(each.failed for each in times):
        raise typer.Exit(int(ExitStatus.REFUSED))


@app.command("coverage", short_help="List kernels, their benchmark and config files.")
def coverage(file: File = None, as_json: Json = False) -> None:
    """List each kernel with its benchmark file and config files, and kernels that are in no suite. Exit 1 if one lacks some."""
    from expctl import wiring
    from expctl.cli.output import print_result, terminal_width
    from expctl.domain.errors import ExitStatus
    from expctl.suite.coverage import coverage_of
    from expctl.suite.terminal import coverage_lines

    root = wiring.here().root
    found = coverage_of(wiring.suite_in(file or root / "suite.yaml"), root)
    facts = {"kernels": found, "whole": all(each.is_whole for each in found)}
    print_result(facts, lambda: coverage_lines(found, terminal_width()), as_json, schema="suite-coverage/1")
    if not facts["whole"]:
        raise typer.Exit(int(ExitStatus.REFUSED))


def _chosen(suite: "Suite", env: str, kernels: "Sequence[str]", file: Path) -> "tuple[SuiteCase, ...]":
    from expctl.domain.errors import Misused
    from expctl.domain.text import one_line
    from expctl.suite.cases import cases_of

    for option, names, known in (("--env", [env], suite.environments), ("--kernel", kernels, suite.kernels)):
        for name in names:
            if name not in known:
                raise Misused(
                    f"the suite has no such {'environment' if option == '--env' else 'kernel'}",
                    code="suite-name-unknown",
                    expected=f"one of {', '.join(known)}",
                    found=one_line(name, 60),
                    where=str(file),
                    hint=f"expctl suite run {option} {next(iter(known))}",
                )
    return tuple(each for each in cases_of(suite) if not kernels or each.kernel in kernels)
