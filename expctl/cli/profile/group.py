"""The group `expctl profile`: read what GPU profilers record, and decode names of kernels."""

import typer

from expctl.cli.profile import decode, diff, show

app = typer.Typer(invoke_without_command=True, rich_markup_mode=None)


@app.callback()
def profile(ctx: typer.Context) -> None:
    """Read what rocprofv3, torch.profiler, ncu and nsys record, and explain what changed."""
    if ctx.invoked_subcommand is None:
        print(ctx.get_help())


app.command("show", short_help="Show the kernels of a profile and what bounds them.")(show.show)
app.command("diff", short_help="Compare two profiles and say what made the difference.")(diff.diff)
app.command("decode", short_help="Take the name of a Tensile kernel apart.")(decode.decode)
