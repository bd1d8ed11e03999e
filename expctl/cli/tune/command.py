"""The command `expctl tune`: find the config of each shape, and land a table of them; convert tables of the older form."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from expctl.domain.experiment.record import Record
    from expctl.screening.screen import Times

app = typer.Typer(invoke_without_command=True, rich_markup_mode=None)
Json = Annotated[bool, typer.Option("--json", help="Print facts as JSON; progress goes to standard error.")]


@app.callback()
def tune(
    ctx: typer.Context,
    target: Annotated[str, typer.Option(help="Default: the first available in `decides` of protocol.yaml.")] = "",
    shapes: Annotated[str, typer.Option(metavar="MxNxK,...", help="Instead of those in protocol.yaml.")] = "",
    edit: Annotated[
        str, typer.Option(metavar="FILES", help="special: files of one N and K; default: DEFAULT.json first.")
    ] = "special",
    anew: Annotated[bool, typer.Option("--anew", help="Start from the build's choice, where tables are stale.")] = False,
    golden: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Times to count regressions against (docs/COMPARE.md).")
    ] = None,
    wait: Annotated[
        float | None, typer.Option(min=0, metavar="S", help="Wait S seconds at most for a quiet machine; default: gate.wait_s.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Find the config of each shape of a list, and land tables of them if no shape regresses (docs/TUNE.md).

    Configs are screened by bucket in a few launches; finalists are compared with what the bucket has by the full verdict; only
    buckets with a KEEP change, and the whole list is compared before the tables land, in one experiment of kind config. After
    Ctrl-C or a kill the same command goes on from there.
    """
    if ctx.invoked_subcommand is not None:
        return
    import sys

    from expctl import wiring
    from expctl.adapters.machine.signals import Interruption
    from expctl.cli.output import print_json, print_lines
    from expctl.cli.tune.counts import reference_times
    from expctl.domain.errors import Misused
    from expctl.domain.text import one_line
    from expctl.flow.tuning.asked import Asked, Edit
    from expctl.flow.tuning.tune import tune as tune_shapes
    from expctl.views.console import ConsoleProgress

    if edit not in set(Edit):
        raise Misused(
            "--edit is not a kind of files",
            code="not-an-edit",
            expected=f"one of {', '.join(Edit)}",
            found=one_line(edit, 60),
            hint="for example --edit special",
        )
    named = tuple(filter(None, shapes.split(","))) if shapes.strip(",") else (shapes,)  # "," is a shape that can't be read
    asked = Asked(target=target, shapes=named if shapes else (), edit=Edit(edit), anew=anew)
    reference = reference_times(golden) if golden else None  # read now: a wrong path shows before, not after the minutes
    place = wiring.here()
    stream = sys.stderr if as_json else sys.stdout
    with Interruption("expctl tune goes on from there") as interruption, ConsoleProgress(stream) as progress:
        context = wiring.context(place, progress, stop_requested=interruption.requested, wait_s=wait)
        record = tune_shapes(context, wiring.tune_tools(place), asked)
    if as_json:
        print_json({"record": record}, schema="tune/1")
    else:
        print_lines(_lines(record, reference))


def _lines(record: "Record", reference: "Times | None") -> list[str]:
    from expctl.cli.tune.counts import counts_lines
    from expctl.domain.experiment.bucket_verdict import bucket_lines

    lines = [f"  {'bucket':<10} {line}" for line in bucket_lines(record.buckets)]
    lines += [f"  {record.verdict:<10} {reason}" for reason in record.reasons]
    lines += [f"  {'compare':<10} {line}" for line in counts_lines(record, reference)]
    return [*lines, f"  {'record':<10} experiments/{record.id}/record.json"]


@app.command("drift", short_help="Measure an experiment again, each side with its own best config.")
def drift(
    experiment: Annotated[str, typer.Argument(metavar="ID", help="An experiment that was timed.")],
    wait: Annotated[
        float | None, typer.Option(min=0, metavar="S", help="Wait S seconds at most for a quiet machine; default: gate.wait_s.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure both commits of an experiment with the config that is best for each, and add the outcome to its record.

    A code change is judged with a pinned config. Both gains stand in the record, with what explains a difference.
    """
    import sys

    from expctl import wiring
    from expctl.adapters.machine.signals import Interruption
    from expctl.cli.output import print_json, print_lines
    from expctl.domain.experiment.ids import check_id
    from expctl.flow.tuning.drift import measure_drift
    from expctl.views.console import ConsoleProgress
    from expctl.views.report import drift_lines

    check_id(experiment)
    stream = sys.stderr if as_json else sys.stdout
    with Interruption("expctl tune drift starts over") as interruption, ConsoleProgress(stream) as progress:
        context = wiring.context(wiring.here(), progress, stop_requested=interruption.requested, wait_s=wait)
        record = measure_drift(context, experiment)
    if as_json:
        print_json({"id": record.id, "drift": record.drift}, schema="tune-drift/1")
    else:
        print_lines(drift_lines(record))


@app.command("import", short_help="Turn tables of the older, flat form into today's.")
def import_tables(
    source: Annotated[Path, typer.Argument(metavar="FOLDER", help="Holds <arch>-OP.json and <arch>-OP-N=128-K=512.json.")],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Gets <arch>/hip/gemm/<op>/DEFAULT.json and so on.")],
    compiler: Annotated[str, typer.Option(metavar="TEXT", help="The compiler that the tables were made with.")],
    driver: Annotated[str, typer.Option(metavar="TEXT", help='The driver; "" for none.')],
    device: Annotated[str, typer.Option(metavar="TEXT", help="The processor or GPU.")],
    as_json: Json = False,
) -> None:
    """Convert every table of FOLDER, or none: a malformed one is refused before anything is written.

    The flat form doesn't say what a table was made with, so it is asked: a table is refused as stale where that differs.
    """
    from expctl.cli.tune.files import import_files

    written = import_files(source, out, {"compiler": compiler, "driver": driver, "device": device})
    _print(written, as_json)


@app.command("export", short_help="Write tables in the older, flat form.")
def export_tables(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Such as configs/gfx950/hip/gemm/gemm_a8w8.")],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Gets <arch>-OP.json and so on.")],
    as_json: Json = False,
) -> None:
    """Write every table of FOLDER in the flat form, which has no place for what it was made with."""
    from expctl.cli.tune.files import export_files

    _print(export_files(folder, out), as_json)


def _print(written: list[Path], as_json: bool) -> None:
    from expctl.cli.output import print_result

    paths = [str(path) for path in written]
    print_result({"written": paths}, lambda: [f"written  {path}" for path in paths], as_json, schema="tune-files/1")
