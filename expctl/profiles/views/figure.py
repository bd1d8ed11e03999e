"""Draw the roofline of a profile and the time of its kernels as PNG or SVG. It loads matplotlib, which is optional."""

import io
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from expctl.domain.experiment.figures import time_text
from expctl.domain.layout import cut_middle
from expctl.domain.text import one_line
from expctl.profiles.model.kernel_profile import Kernel
from expctl.profiles.roofline.ceilings import Position
from expctl.profiles.roofline.peaks import Peak
from expctl.profiles.views.colours import COLOURS
from expctl.profiles.views.short_names import apart_when_cut, short_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE_INCHES = (11.0, 5.2)
DOTS_PER_INCH = 160
BARS = 12
NAME_SHOWN = 34
INK, FAINT, ROOF = "#22272e", "#8a929c", "#b5443c"


def figure_bytes(
    title: str, kernels: Sequence[Kernel], positions: Mapping[str, Position], peak: Peak | None, suffix: str
) -> bytes:
    """Return a picture of the roofline and of kernel times, as the bytes of a file; equal input gives equal bytes. `suffix` is
    `png` or `svg`; `positions` are by kernel name. Raises ImportError without matplotlib.
    """
    import matplotlib
    from matplotlib.figure import Figure

    settings: Any = {
        "font.size": 8.5,
        "text.parse_math": False,  # a `$` in a kernel's name starts no formula
        "axes.unicode_minus": False,
        "svg.fonttype": "none",  # keep text as text, not as outlines
        "svg.hashsalt": "expctl",  # constant ids, for equal files
    }
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # the font lacks some characters of names
        figure = Figure(figsize=SIZE_INCHES, dpi=DOTS_PER_INCH)
        figure.subplots_adjust(left=0.07, right=0.98, top=0.87, bottom=0.11, wspace=0.62)
        figure.text(0.07, 0.94, one_line(title, 110), fontsize=11, color=INK, weight="bold")
        _draw_roof(figure.add_subplot(1, 2, 1), kernels, positions, peak)
        _draw_times(figure.add_subplot(1, 2, 2), kernels)
        file = io.BytesIO()
        metadata = {"Software": None} if suffix == "png" else {"Date": None, "Creator": None}
        figure.savefig(file, format=suffix, metadata=metadata)
    return file.getvalue()


def _draw_roof(axes: "Axes", kernels: Sequence[Kernel], positions: Mapping[str, Position], peak: Peak | None) -> None:
    numbers = {kernel.name: label for label, kernel in _labels(kernels)}
    points = [
        (kernel, place) for kernel in kernels if (place := positions.get(kernel.name)) and place.flop_per_byte and place.tflops
    ]
    axes.set_title("roofline", loc="left", color=INK, fontsize=9)
    if not points:
        hint = "no kernel with known FLOP and bytes:\n--size and --types, --moves, or counters give them"
        axes.text(0.5, 0.5, hint, ha="center", va="center", color=FAINT, transform=axes.transAxes)
        axes.set_axis_off()
        return
    intensities = [place.flop_per_byte or 0.0 for _, place in points]
    kinds = dict.fromkeys(place.kind for _, place in points)
    for kind in kinds:
        _draw_limit(axes, kind, intensities, peak, points)
    for kernel, place in points:
        axes.plot([place.flop_per_byte or 0.0], [place.tflops or 0.0], "o", color=COLOURS[kernel.kind], markersize=7, zorder=4)
        axes.annotate(
            numbers[kernel.name], (place.flop_per_byte or 0.0, place.tflops or 0.0), xytext=(6, -11),
            textcoords="offset points", fontsize=7, color=INK,
        )  # fmt: skip
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter("")
    axes.set_xlabel("FLOP per byte", color=INK)
    axes.set_ylabel("TFLOP/s", color=INK)
    _frame(axes)
    low, high = axes.get_ylim()
    axes.set_ylim(low / 2, high * 2 * len(kinds) + high)  # room for the legend above the roof
    axes.legend(fontsize=7, frameon=False, loc="upper left")


def _labels(kernels: Sequence[Kernel], *, named: bool = False) -> list[tuple[str, Kernel]]:
    """Return a label for each kernel: the place of its bar, with its folded name if `named`, or if it has no bar."""
    short = apart_when_cut(short_names([kernel.name for kernel in kernels]), NAME_SHOWN)
    found, number = [], 0
    for kernel in kernels:
        number += 1 if kernel.total_ns else 0
        name = cut_middle(one_line(short[kernel.name], 400), NAME_SHOWN)
        alone = not named and kernel.total_ns and number <= BARS
        found.append((str(number) if alone else f"{number}  {name}", kernel))
    return found


def _draw_limit(
    axes: "Axes", kind: str, intensities: Sequence[float], peak: Peak | None, points: Sequence[tuple[Kernel, Position]]
) -> None:
    """Draw the roofline for the number type `kind`, a full line at the GPU's highest clock and a dashed one at the measured."""
    most = peak.tflops(kind) if peak else None
    if peak is None or most is None or not peak.bandwidth_gbs:
        return
    ridge = most * 1e3 / peak.bandwidth_gbs
    low, high = min(*intensities, ridge) / 8, max(*intensities, ridge) * 8
    clocks = {place.clock_mhz for _, place in points if place.clock_mhz and place.kind == kind}
    for clock in (None, *sorted(clocks)[:1]):
        roof = peak.tflops(kind, clock) or most
        limits = f"{roof:.0f} TFLOP/s at {clock or peak.clock_mhz:.0f} MHz, {peak.bandwidth_gbs:.0f} GB/s"
        label = f"{one_line(peak.name, 30)}, {kind}: {limits}"
        intensities, rates = [low, roof * 1e3 / peak.bandwidth_gbs, high], [low * peak.bandwidth_gbs / 1e3, roof, roof]
        axes.plot(intensities, rates, "--" if clock else "-", color=ROOF, linewidth=1.3, label=label, zorder=2)


def _draw_times(axes: "Axes", kernels: Sequence[Kernel]) -> None:
    labels = {kernel.name: label for label, kernel in _labels(kernels, named=True)}
    timed = [kernel for kernel in kernels if kernel.total_ns][:BARS]
    axes.set_title("time by kernel", loc="left", color=INK, fontsize=9)
    places = list(range(len(timed)))[::-1]
    axes.barh(
        places, [(kernel.total_ns or 0) / 1e6 for kernel in timed], color=[COLOURS[kernel.kind] for kernel in timed], height=0.7
    )
    axes.set_yticks(places, [labels[kernel.name] for kernel in timed], fontsize=7)
    for place, kernel in zip(places, timed, strict=True):
        share = f", {kernel.share_percent:.1f} %" if kernel.share_percent is not None else ""
        text = f" {time_text(kernel.total_ns or 0)}{share}"
        axes.annotate(text, ((kernel.total_ns or 0) / 1e6, place), va="center", fontsize=7, color=INK)
    from matplotlib.patches import Patch

    kinds = dict.fromkeys(kernel.kind for kernel in timed)
    patches = [Patch(color=COLOURS[kind], label=kind.value) for kind in kinds]
    axes.legend(handles=patches, fontsize=7, frameon=False, loc="lower right")
    axes.margins(x=0.35)
    axes.set_xlabel("ms in all", color=INK)
    _frame(axes)


def _frame(axes: "Axes") -> None:
    axes.tick_params(colors=INK, length=3)
    axes.grid(axis="both", color=FAINT, alpha=0.2, linewidth=0.6)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(FAINT)
