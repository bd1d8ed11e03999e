"""The group `expctl profile`: read what GPU profilers record, and decode names of kernels."""

import typer

from expctl.cli.profile import decode, diff, show

app = typer.Typer(
    help="Reads and compares profiles of GPU kernels, and the names of kernels.", no_args_is_help=True, rich_markup_mode=None
)


@app.callback()
def profile() -> None:
    """Read what rocprofv3, torch.profiler, ncu and nsys record, and explain what changed."""


app.command("show")(show.show)
app.command("diff")(diff.diff)
app.command("decode")(decode.decode)
