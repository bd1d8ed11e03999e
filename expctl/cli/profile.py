"""`expctl profile`: what profilers wrote, and the names in it."""

import typer

from expctl.cli import profile_decode

app = typer.Typer(help="Reads what profilers wrote, and the kernel names in it.", no_args_is_help=True, rich_markup_mode=None)
app.command("decode")(profile_decode.decode)
