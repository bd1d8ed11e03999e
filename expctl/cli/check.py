"""The command `expctl check`: look for races and other faults in a kernel, in an interpreter that needs no GPU."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from expctl.cli.inspect import LEVELS, check_level

if TYPE_CHECKING:
    from expctl.check.examine import Examined
    from expctl.check.kernel_file import KernelFile


def check(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="HIP source, assembly, or a code object with its assembly beside it.")
    ],
    launch: Annotated[
        Path | None, typer.Option("--launch", metavar="CASE", help="The launch: a .yaml or .py file; without, one is proposed.")
    ] = None,
    kernel: Annotated[str, typer.Option(metavar="NAME", help="The kernel, where the file has several.")] = "",
    orders: Annotated[int, typer.Option(min=1, max=1000, help="Orders of waves and workgroups to try for each shape.")] = 3,
    fuzz_shapes: Annotated[
        int, typer.Option("--fuzz-shapes", min=0, max=10_000, help="Shapes to draw from the ranges in `vary`.")
    ] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Seeds inputs, orders and drawn shapes.")] = 0,
    patience: Annotated[int, typer.Option(min=1, max=1000, help="Times the work after which a loop counts as endless.")] = 1,
    sarif: Annotated[Path | None, typer.Option(metavar="FILE", help="Write what was found as SARIF too.")] = None,
    define: Annotated[list[str] | None, typer.Option("-D", metavar="NAME=VALUE", help="A macro for a source.")] = None,
    include: Annotated[list[Path] | None, typer.Option("-I", metavar="FOLDER", help="Where a source's headers are.")] = None,
    arch: Annotated[
        str, typer.Option(metavar="GPU", help="GPU to compile a source for: gfx1100 to gfx1103, gfx1150 to gfx1153.")
    ] = "",
    level: Annotated[str, typer.Option("-O", metavar="LEVEL", help=f"Level for a source: {', '.join(LEVELS)}.")] = "3",
    standard: Annotated[str, typer.Option("--std", metavar="C++", help="Language of a source.")] = "c++17",
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON.")] = False,
) -> None:
    """Look for races, accesses outside of arrays, missing waits and wrong results in a kernel. Needs no GPU or repository.

    FILE is a HIP source (.hip, .cu, .cpp), or assembly (.s, Triton's .amdgcn), for gfx1151 and its kin. Without --launch,
    its kernels are listed and a launch description is proposed, to be edited. With it, the kernel is interpreted in several
    orders of its waves and workgroups. Exit status: 0 nothing found, 1 faults found. docs/CHECK.md begins with an example.
    """
    from expctl.check.kernel_file import read_kernels
    from expctl.cli.output import check_folder, check_other_file
    from expctl.inspection.device_compiler import Options

    check_level(level)
    if sarif is not None:
        if launch is None:
            raise _nothing_launched()
        check_folder(sarif)
        check_other_file(sarif, file, launch)
    options = Options(
        arch=arch,
        level=f"-O{level}",
        standard=f"-std={standard}",
        defines=tuple(define or ()),
        includes=tuple(str(folder) for folder in include or ()),
    )
    read = read_kernels(file, options)
    if launch is None:
        _propose(read, kernel, as_json)
        return
    from expctl.check.case_file import read_case
    from expctl.check.examine import Plan, examine
    from expctl.check.terminal import check_lines
    from expctl.cli.output import print_result, terminal_width
    from expctl.domain.errors import ExitStatus
    from expctl.views.slow_work import told_when_slow

    plan = Plan(orders=orders, fuzz_shapes=fuzz_shapes, seed=seed, patience=patience)
    description = read_case(launch)
    with told_when_slow("check", sys.stderr) as tell:
        result, _ = examine(read, description, plan, kernel, tell)
    if sarif is not None:
        _write_sarif(result, sarif)
    print_result(result, lambda: check_lines(result, terminal_width()), as_json, schema="check/1")
    if result.findings:
        raise typer.Exit(int(ExitStatus.REFUSED))


def _nothing_launched() -> Exception:
    from expctl.domain.errors import Misused

    return Misused(
        "--sarif writes what a launch shows, and nothing is launched",
        code="sarif-without-launch",
        expected="--launch CASE beside --sarif",
        found="--sarif alone",
        hint="expctl check FILE proposes a launch description",
    )


def _propose(read: "KernelFile", kernel: str, as_json: bool) -> None:
    from expctl.check.kernel_file import named, typed
    from expctl.check.proposal import proposal
    from expctl.check.terminal import kernel_lines
    from expctl.cli.output import print_json, print_text, terminal_width

    chosen = named(read, kernel) if kernel else typed(read, read.kernels[0])
    text = proposal(read, chosen)
    if as_json:
        print_json(_kernel_facts(read, text), schema="check-kernels/1")
    else:
        print_text("\n".join(kernel_lines(read, chosen, text, terminal_width())))


def _kernel_facts(read: "KernelFile", text: str) -> dict[str, Any]:
    kernels = [
        {"name": str(each.cpp_name), "symbol": each.symbol, "parameters": each.parameters, "most_threads": each.most_threads}
        for each in read.kernels
    ]
    return {
        "file": str(read.file),
        "arch": read.arch,
        "compiler": read.compiler,
        "kernels": kernels,
        "notes": read.notes,
        "proposal": text,
    }


def _write_sarif(result: "Examined", path: Path) -> None:
    import json
    from importlib.metadata import version

    from expctl.check.sarif import sarif
    from expctl.cli.output import write_file

    write_file(path, json.dumps(sarif(result, version("expctl")), indent=1).encode() + b"\n")
