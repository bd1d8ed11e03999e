"""The command `expctl profile show`: read and explain what a GPU profiler recorded."""

from pathlib import Path
from typing import Annotated

import typer

from expctl.cli.profile.options import TYPES, profile_path

TOP = 20


def show(
    path: Annotated[Path, typer.Argument(metavar="FILE|FOLDER", parser=profile_path)],
    kernel: Annotated[str, typer.Option(metavar="REGEX", help="Only kernels with this in their names.")] = "",
    kind: Annotated[str, typer.Option("--class", metavar="CLASS", help="Only this class, such as GEMM or copy.")] = "",
    top: Annotated[
        int | None, typer.Option(metavar="N", min=0, help=f"List N kernels, 0 for all; else {TOP}, with --json or --csv all.")
    ] = None,
    size: Annotated[str, typer.Option(metavar="M,N,K", help="The problem of one pass: gives FLOP/s.")] = "",
    types: Annotated[str, typer.Option(metavar="A,B,C", help=f"Number types of its matrices: {', '.join(TYPES)}.")] = "",
    passes: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Passes in the profile; the GEMM's calls unless given.")
    ] = None,
    moves: Annotated[list[str] | None, typer.Option(metavar="REGEX=BYTES", help="What a call of a kernel moves.")] = None,
    clock: Annotated[
        float | None, typer.Option(metavar="MHZ", min=1, help="The clock during the run, if you sampled it.")
    ] = None,
    bandwidth: Annotated[float | None, typer.Option(metavar="GB/s", min=1, help="The memory's, where it isn't known.")] = None,
    arch: Annotated[str, typer.Option(metavar="GPU", help="The GPU, where the file doesn't name it: gfx1151, sm_90.")] = "",
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw roofline and time by kernel: .png or .svg.")] = None,
    by: Annotated[str, typer.Option(metavar="WHAT", help="Sum up by operator, module or layer of a torch trace.")] = "",
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page with timeline, roofline and kernels.")] = None,
    perfetto: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the dispatches as a trace for Perfetto.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print kernels as CSV.")] = False,
) -> None:
    """Show kernels of a profile: times, resources, classes, gaps, what bounds them. A folder is one run.

    Reads rocpd databases, rocprofv3 CSV and JSON, torch.profiler traces, ncu --csv pages and nsys databases, told apart by
    their contents. docs/PROFILES.md says what is corrected and what the figures mean.
    """
    import sys

    from expctl.cli.output import print_json, print_lines, print_text, terminal_width
    from expctl.cli.picture import picture_format, write_picture
    from expctl.cli.profile.options import attribute_to, check_choice, chosen_kernels, gpu, problem_of
    from expctl.domain.errors import Misused
    from expctl.profiles.assemble.analysis import analyse
    from expctl.profiles.model.attribution import attributed
    from expctl.profiles.model.pipeline import pipeline
    from expctl.profiles.read_profile import read_profile
    from expctl.profiles.views.attribution import attribution_lines
    from expctl.profiles.views.data import plain_fields, profile_csv, profile_data
    from expctl.profiles.views.terminal import EXPLAINED, profile_lines

    if as_json and as_csv:
        raise Misused("--json can't be combined with --csv", code="json-or-csv", expected="one of them", found="both")
    suffix = picture_format(plot, "expctl profile show FILE --plot out.png") if plot is not None else ""
    to = attribute_to(by)
    problem = problem_of(size, types, moves or [], clock, bandwidth)
    check_choice(kernel, kind)
    found = read_profile(path, arch=gpu(arch), dispatches=html is not None or perfetto is not None)
    kernels = chosen_kernels(found.kernels, kernel, kind)
    one_pass = pipeline(kernels, problem.size, passes) if problem.size or passes else None
    most = (0 if as_json or as_csv else TOP) if top is None else top
    shown = kernels[:most] if most > 0 else kernels
    analysis = analyse(found, shown, problem)
    if plot is not None:
        from expctl.profiles.views.figure import figure_bytes

        write_picture(plot, lambda: figure_bytes(found.path, analysis.kernels, analysis.positions, analysis.peak, suffix))
        print(f"drawn in {plot}", file=sys.stderr)
    if html is not None or perfetto is not None:
        from expctl.cli.profile.files import write_views

        write_views(html, perfetto, found, analyse(found, kernels, problem))
    origins = attributed(kernels, to, found.total_ns) if to else ()
    if as_json:
        data = profile_data(found, analysis.kernels, analysis.positions, one_pass, kernels)
        data["by"] = [plain_fields(each) for each in origins]
        print_json(data, schema="profile-show/1")
    elif as_csv:
        print_text(profile_csv(analysis.kernels, analysis.positions).removesuffix("\n"))
    elif to:
        print_lines(attribution_lines(origins, to, most, terminal_width()))
    else:
        from expctl.profiles.views.paint import painted

        explained, width = len(shown) if kernel else EXPLAINED, terminal_width()
        lines = profile_lines(found, analysis.kernels, analysis.positions, one_pass, kernels, explained, width)
        print_lines(lines, painted)
