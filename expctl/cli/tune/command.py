"""The command `expctl tune`: find the config of each shape, and land a table of them; convert tables of the older form."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(rich_markup_mode=None, no_args_is_help=True)
Json = Annotated[bool, typer.Option("--json", help="Print facts as JSON; progress goes to standard error.")]


@app.callback()
def tune() -> None:
    """Find the config of each shape, and keep them in tables (docs/TUNE.md)."""


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

    print_result({"written": written}, lambda: [f"written  {path}" for path in written], as_json, schema="tune-files/1")
