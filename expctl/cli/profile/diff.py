"""The command `expctl profile diff`: show what changed between two profiles, and why."""

from pathlib import Path
from typing import Annotated

import typer

from expctl.cli.profile.options import TYPES, profile_path

TOP = 8


def diff(
    before: Annotated[Path, typer.Argument(metavar="A", parser=profile_path)],
    after: Annotated[Path, typer.Argument(metavar="B", parser=profile_path)],
    kernel: Annotated[str, typer.Option(metavar="REGEX", help="Only kernels with this in their names.")] = "",
    top: Annotated[int, typer.Option(metavar="N", min=0, help="Show N pairs, 0 for all; --json has all.")] = TOP,
    size: Annotated[
        str, typer.Option(metavar="M,N,K", help="The problem of one pass: gives results and share of the peak.")
    ] = "",
    types: Annotated[str, typer.Option(metavar="A,B,C", help=f"Number types of its matrices: {', '.join(TYPES)}.")] = "",
    arch: Annotated[str, typer.Option(metavar="GPU", help="The GPU, where the files don't name it: gfx1151, sm_90.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON.")] = False,
) -> None:
    """Compare two profiles, kernel by kernel, and say in one sentence what made the difference, if the figures do. A is the
    profile before a change, B the one after it. Kernels are paired by name, else by their role in the run.
    """
    from expctl.cli.output import print_result, terminal_width
    from expctl.cli.profile.options import expression, gpu, problem_of
    from expctl.domain.errors import Misused
    from expctl.profiles.assemble.analysis import analyse
    from expctl.profiles.diff.comparable import why_incomparable
    from expctl.profiles.diff.run_change import compare_runs
    from expctl.profiles.read_profile import read_profile
    from expctl.profiles.views.diff import diff_data, diff_lines

    chosen, device, problem = expression(kernel, "--kernel"), gpu(arch), problem_of(size, types, [], None, None)
    mine, its = read_profile(before, arch=device), read_profile(after, arch=device)
    sides = [
        analyse(each, [kernel for kernel in each.kernels if chosen.search(kernel.name)], problem).kernels
        for each in (mine, its)
    ]
    if not any(sides):
        raise Misused(
            "neither profile has a kernel that --kernel matches",
            code="no-kernel-to-compare",
            expected="an expression that occurs in a kernel's name",
            found=kernel,
            hint="expctl profile show FILE lists the kernels",
        )
    found = compare_runs(*sides, incomparable=why_incomparable(mine, its))
    print_result(
        diff_data(mine, its, found),
        lambda: diff_lines(mine, its, found, top, terminal_width()),
        as_json,
        schema="profile-diff/1",
    )
