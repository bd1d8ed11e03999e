"""`expctl inspect`: what a kernel needs and consists of, without running it."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from expctl.domain.inspection import FileReport

CONFIG_MACRO = "SCALED_MM_CONFIG"
CONFIG = re.compile(r"\d+(,\d+)*", re.ASCII)


def inspect(
    file: Annotated[Path, typer.Argument(metavar="FILE")],
    other: Annotated[Path | None, typer.Argument(metavar="[OTHER]")] = None,
    diff: Annotated[Path | None, typer.Option(metavar="OTHER", help="Compare FILE with OTHER; so does a second FILE.")] = None,
    config: Annotated[str, typer.Option(metavar="1,8,2,2,8,2", help=f"Short for -D {CONFIG_MACRO}=..., our kernel's.")] = "",
    arch: Annotated[str, typer.Option(metavar="GPU", help="The GPU to compile for; gfx1151 unless the file says.")] = "",
    kernel: Annotated[str, typer.Option(metavar="NAME", help="Only the kernel of this name, or with this in its name.")] = "",
    define: Annotated[list[str] | None, typer.Option("-D", metavar="NAME=VALUE", help="A macro for a source.")] = None,
    include: Annotated[list[Path] | None, typer.Option("-I", metavar="FOLDER", help="Where a source's headers are.")] = None,
    level: Annotated[str, typer.Option("-O", metavar="LEVEL", help="Optimization level for a source: 0, 1, 2, 3, s.")] = "3",
    standard: Annotated[str, typer.Option("--std", metavar="C++", help="Language of a source.")] = "c++17",
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON.")] = False,
) -> None:
    """Registers, LDS, spills, occupancy, instructions and code hash of each kernel in a file. Needs no GPU and no repository.

    FILE is a HIP source (.hip, .cu, .cpp), clang's assembly (.s) or a code object (.hsaco, .co, .o, an offload bundle). Sources
    are compiled by hipcc where ROCm is installed, else by the clang of the ziglang wheel. docs/INSPECT.md explains the figures.
    """
    from expctl.cli.output import print_json, print_lines
    from expctl.domain.errors import Misused
    from expctl.domain.inspection import select
    from expctl.domain.inspection_change import change_between
    from expctl.targets.device_compiler import Options
    from expctl.targets.inspected_file import inspect as inspect_file
    from expctl.views.inspection import change_lines, report_lines

    if other is not None and diff is not None:
        raise Misused("what is compared with what?", expected="FILE OTHER, or FILE --diff OTHER", found="both")
    if config and not CONFIG.fullmatch(config):
        raise Misused("this is no config", expected="numbers joined by commas, such as 1,8,2,2,8,2", found=config)
    if level not in ("0", "1", "2", "3", "s", "z", "fast"):
        raise Misused("this is no optimization level", expected="0, 1, 2, 3, s or z", found=level)
    options = Options(
        arch=arch,
        level=f"-O{level}",
        standard=f"-std={standard}",
        defines=(*((f"{CONFIG_MACRO}={config}",) if config else ()), *(define or ())),
        includes=tuple(str(folder) for folder in include or ()),
    )

    def look(path: Path) -> "FileReport":
        report = inspect_file(path, options)
        return select(report, kernel) if kernel else report

    second = other or diff
    if second is None:
        report = look(file)
        if as_json:
            print_json(_flat(report))
        else:
            print_lines(report_lines(report))
        return
    change = change_between(look(file), look(second))
    if as_json:
        print_json(change)
    else:
        print_lines(change_lines(change))


def _flat(report: "FileReport") -> dict[str, Any]:
    """The report as JSON; the figures of a file's only kernel stand at the top as well."""
    from expctl.adapters.typed import encode

    facts: dict[str, Any] = encode(report)
    return facts | facts["kernels"][0] if len(report.kernels) == 1 else facts
