"""The group `expctl profile`: read what GPU profilers record, and decode names of kernels."""

from typing import Any

import typer
from typer.core import TyperGroup

from expctl.cli.profile import bottleneck, decode, diff, experiment, show
from expctl.domain.experiment.ids import ID_PATTERN


class ProfileGroup(TyperGroup):
    """Takes `expctl profile P17` for `expctl profile experiment P17`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the name of the subcommand, the subcommand and the words that are left for it."""
        return super().resolve_command(ctx, ["experiment", *args] if args and ID_PATTERN.fullmatch(args[0]) else args)


app = typer.Typer(invoke_without_command=True, rich_markup_mode=None, cls=ProfileGroup)


@app.callback()
def profile(ctx: typer.Context) -> None:
    """Read what rocprofv3, torch.profiler, ncu and nsys record, and explain what changed. `expctl profile ID` explains a
    concluded experiment.
    """
    if ctx.invoked_subcommand is None:
        print(ctx.get_help())


app.command("show", short_help="Show the kernels of a profile and what bounds them.")(show.show)
app.command("diff", short_help="Compare two profiles and say what made the difference.")(diff.diff)
app.command("bottleneck", short_help="Say what to work on next, and check a claimed gain.")(bottleneck.bottleneck)
app.command("decode", short_help="Take the name of a Tensile kernel apart.")(decode.decode)
app.command("experiment", short_help="Explain a concluded one (also: expctl profile ID).")(experiment.experiment)
