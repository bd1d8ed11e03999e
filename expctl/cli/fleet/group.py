"""The commands `expctl fleet up|join|status|down`: several machines judge the experiments of one queue."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True)


@app.command(hidden=True)
def work(folder: Annotated[Path, typer.Argument(help="The worker's folder.")]) -> None:
    """Do one job of a worker, which stands on standard input. The worker starts this itself."""
    from expctl import wiring

    wiring.fleet_work(folder)
