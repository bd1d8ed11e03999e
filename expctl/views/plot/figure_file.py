"""Make the bytes of a PNG or SVG file from what draws on a matplotlib figure. It loads matplotlib, which is optional."""

import io
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from expctl.domain.experiment.proposal import Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH_INCHES = 9.0
DOTS_PER_INCH = 160
INK, FAINT = "#22272e", "#8a929c"
GOOD, BAD = "#2e8b57", "#b5443c"
COLOURS = {Verdict.KEEP.value: GOOD, Verdict.REJECT.value: BAD}


def figure_file(draw: Callable[["Figure"], None], suffix: str, *, height_inches: float) -> bytes:
    """Return the bytes of a file; `suffix` is `png` or `svg`. Equal drawings give equal bytes. Raises ImportError without
    matplotlib.
    """
    import matplotlib
    from matplotlib.figure import Figure

    settings: Any = {
        "font.size": 9.0,
        "text.parse_math": False,  # a `$` in a title starts no formula
        "axes.unicode_minus": False,
        "svg.fonttype": "none",  # keep text as text, not as outlines
        "svg.hashsalt": "expctl",  # constant ids, for equal files
    }
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # the font lacks some characters of titles
        figure = Figure(figsize=(WIDTH_INCHES, height_inches), dpi=DOTS_PER_INCH)
        draw(figure)
        file = io.BytesIO()
        metadata = {"Software": None} if suffix == "png" else {"Date": None, "Creator": None}
        figure.savefig(file, format=suffix, metadata=metadata)
    return file.getvalue()
