"""The time of a profile by torch operator, module or layer, as lines for a terminal."""

from collections.abc import Sequence

from expctl.domain.experiment.figures import time_text
from expctl.domain.layout import Column, named_table
from expctl.domain.text import plain_text
from expctl.profiles.model.attribution import AttributedTime, AttributeTo


def attribution_lines(found: Sequence[AttributedTime], to: AttributeTo, top: int, width: int = 0) -> list[str]:
    """Return the first `top` (0: all) entries as a table that fits into `width` columns, unless it is 0."""
    shown = found[:top] if top > 0 else found
    columns = [
        Column("calls", [str(each.calls) for each in shown], 2),
        Column("total", [time_text(each.total_ns) for each in shown], 1),
        Column("share", [f"{each.share_percent:.2f} %" for each in shown]),
        Column("sum", [f"{each.cumulative_percent:.2f} %" for each in shown], 3),
        Column("TFLOP/s", ["-" if each.tflops is None else f"{each.tflops:.3f}" for each in shown], 4),
    ]
    lines, _ = named_table(columns, Column(to.value, [plain_text(each.name) for each in shown]), width, indent=2)
    return [*lines, *([f"  ... and {len(found) - len(shown)} more (--top 0 lists all)"] if len(shown) < len(found) else [])]
