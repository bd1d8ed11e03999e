"""Write what `expctl profile show` makes besides its text: an HTML page, a trace for Perfetto."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from expctl.profiles.assemble.analysis import Analysis
    from expctl.profiles.model.kernel_profile import Profile


def write_views(html: Path | None, perfetto: Path | None, profile: "Profile", analysis: "Analysis") -> None:
    """Write the page to `html` and the trace to `perfetto`, each unless None. `analysis` is of the kernels that were chosen.
    Raises Refused for a file that can't be written, and for a trace without single dispatches.
    """
    from expctl.cli.output import write_file
    from expctl.domain.errors import Misused
    from expctl.profiles.views.page.document import page_html
    from expctl.profiles.views.perfetto import perfetto_trace

    if html is not None:
        text = page_html(profile, analysis.kernels, analysis.positions, analysis.peak)
        write_file(html, text.encode())
        print(f"written to {html}", file=sys.stderr)
    if perfetto is not None:
        if not profile.tracks:
            raise Misused(
                "this profile has no single dispatches with a start and an end",
                code="no-dispatches-recorded",
                expected="a trace of kernels",
                found=f"a {profile.source}",
                hint="rocprofv3 --kernel-trace, nsys or torch.profiler record them",
            )
        write_file(perfetto, perfetto_trace(profile, analysis.positions))
        print(f"written to {perfetto}: ui.perfetto.dev opens it", file=sys.stderr)
