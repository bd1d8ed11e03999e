"""The command `expctl compare`: screen two result files for regressions."""

from pathlib import Path
from typing import Annotated

import typer


def compare(
    golden: Annotated[Path, typer.Argument(metavar="GOLDEN.csv", help="Times as they should be.")],
    tot: Annotated[Path, typer.Argument(metavar="TOT.csv", help="Times as they are now.")],
    golden_env: Annotated[Path | None, typer.Option(metavar="FILE", help="Machine and tools of GOLDEN, a JSON object.")] = None,
    tot_env: Annotated[Path | None, typer.Option(metavar="FILE", help="Machine and tools of TOT, a JSON object.")] = None,
    fail_on_regression: Annotated[
        bool,
        typer.Option("--fail-on-regression", help="Exit 1 when a row regresses, or when every row is missing or unstable."),
    ] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print the rows as CSV.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON.")] = False,
) -> None:
    """Screen two result files for regressions: tot_us > 1.005 golden_us + 0.5 us. Needs no repository.

    GOLDEN.csv holds the accepted results, TOT.csv the ones to be checked. Both have a header with kernel, shape and time_us;
    other columns don't matter. Rows with equal kernel and shape are repetitions: the first three count if they lie within 5 %,
    else the closest pair of up to five. Rows below 4 us in GOLDEN are ignored. The ratio is TOT / GOLDEN: above 1, TOT is
    slower. docs/COMPARE.md has the whole rule.
    """
    from expctl.cli.output import print_json, print_lines, print_text, terminal_width
    from expctl.domain.errors import ExitStatus, Misused
    from expctl.screening import screen
    from expctl.screening.environment_file import environment_of
    from expctl.screening.result_file import times_of
    from expctl.screening.terminal import comparison_csv, comparison_lines

    if as_csv and as_json:
        raise Misused(
            "--csv and --json exclude each other",
            code="csv-or-json",
            expected="--csv or --json, or neither",
            found="both",
            hint="expctl compare --help",
        )
    environments = screen.environments_of(
        environment_of(golden_env) if golden_env is not None else None,
        environment_of(tot_env) if tot_env is not None else None,
    )
    rows = screen.compare(times_of(golden), times_of(tot))
    counts = screen.counts(rows)
    if as_json:
        print_json({"rule": screen.RULE, "counts": counts, "environments": environments, "rows": rows}, schema="compare/1")
    elif as_csv:
        print_text(comparison_csv(rows).removesuffix("\n"))
    else:
        print_lines(comparison_lines(rows, counts, environments, terminal_width()))
    if fail_on_regression and screen.fails(rows):
        raise typer.Exit(int(ExitStatus.REFUSED))
