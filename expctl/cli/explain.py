"""The command `expctl explain`: show where a kernel's hot loop spends instructions, LDS passes, lines and registers."""

from pathlib import Path
from typing import Annotated

import typer

from expctl.cli.inspect import LEVELS, check_level


def explain(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="HIP source, assembly, or a code object with its assembly beside it.")
    ],
    other: Annotated[Path | None, typer.Argument(metavar="[OTHER]", help="Another, to compare with.")] = None,
    launch: Annotated[
        Path | None, typer.Option("--launch", metavar="CASE", help="A launch as `check` takes it; without, code is counted.")
    ] = None,
    kernel: Annotated[str, typer.Option(metavar="NAME", help="The kernel, where a file has several.")] = "",
    seed: Annotated[int, typer.Option(min=0, help="Seeds the inputs.")] = 0,
    define: Annotated[list[str] | None, typer.Option("-D", metavar="NAME=VALUE", help="A macro for a source.")] = None,
    include: Annotated[list[Path] | None, typer.Option("-I", metavar="FOLDER", help="Where a source's headers are.")] = None,
    level: Annotated[str, typer.Option("-O", metavar="LEVEL", help=f"Level for a source: {', '.join(LEVELS)}.")] = "3",
    standard: Annotated[str, typer.Option("--std", metavar="C++", help="Language of a source.")] = "c++17",
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON.")] = False,
) -> None:
    """Show a kernel's hot loop by line of its source: instructions by group, live registers. Needs no GPU or repository.

    FILE is a HIP source (.hip, .cu, .cpp), or assembly (.s, Triton's .amdgcn), for gfx1151 and its family. With --launch, the
    kernel is interpreted: figures are per iteration of the loop that executes most, with LDS passes and 128-byte lines of
    memory beside the fewest possible, and what bounds it. With OTHER, two builds stand side by side. docs/EXPLAIN.md has
    examples.
    """
    from expctl.check.kernel_file import read_kernels
    from expctl.cli.output import print_result, terminal_width
    from expctl.inspection.device_compiler import Options

    check_level(level)
    options = Options(
        arch="",
        level=f"-O{level}",
        standard=f"-std={standard}",
        defines=tuple(define or ()),
        includes=tuple(str(folder) for folder in include or ()),
    )
    read = [read_kernels(path, options) for path in (file, other) if path is not None]
    from expctl.check.case_file import read_case
    from expctl.explain.comparison import compared
    from expctl.explain.explained import explain as explain_kernel
    from expctl.explain.terminal import comparison_lines, explained_lines

    description = read_case(launch) if launch is not None else None
    a, *more = [explain_kernel(each, description, kernel, seed) for each in read]
    if more:
        both = compared(a, more[0])
        print_result(both, lambda: comparison_lines(both, terminal_width()), as_json, schema="explain-diff/1")
    else:
        print_result(a, lambda: explained_lines(a, terminal_width()), as_json, schema="explain/1")
