"""The command `expctl inspect`: show a kernel's resources and instructions, without running it."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from expctl.inspection.model.report import FileReport

CONFIG_MACRO = "SCALED_MM_CONFIG"
CONFIG = re.compile(r"\d+(,\d+)*", re.ASCII)
SHAPE = re.compile(r"[1-9]\d{0,9}(,[1-9]\d{0,9}){2,3}", re.ASCII)
LEVELS = ("0", "1", "2", "3", "s", "z", "fast")


def inspect(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A source, assembly, code object, or cache folder of Triton.")],
    other: Annotated[Path | None, typer.Argument(metavar="[OTHER]", help="Another, to compare with.")] = None,
    diff: Annotated[Path | None, typer.Option(metavar="OTHER", help="Compare FILE with OTHER; so does a second FILE.")] = None,
    config: Annotated[
        str | None, typer.Option(metavar="1,8,2,2,8,2", help=f"Short for -D {CONFIG_MACRO}=..., our kernel's.")
    ] = None,
    arch: Annotated[
        str | None, typer.Option(metavar="GPU", help="The GPU to compile for, or of a cache; gfx1151 unless the file says.")
    ] = None,
    kernel: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only the kernel of this name, or with this in its name.")
    ] = None,
    define: Annotated[list[str] | None, typer.Option("-D", metavar="NAME=VALUE", help="A macro for a source.")] = None,
    include: Annotated[list[Path] | None, typer.Option("-I", metavar="FOLDER", help="Where a source's headers are.")] = None,
    level: Annotated[
        str | None, typer.Option("-O", metavar="LEVEL", help=f"Level for a source: {', '.join(LEVELS)}; 3 unless given.")
    ] = None,
    standard: Annotated[
        str | None, typer.Option("--std", metavar="C++", help="Language of a source; c++17 unless given.")
    ] = None,
    config_for: Annotated[
        str | None, typer.Option(metavar="M,N,K", help="FILE is a folder of tables: the config of this shape.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON.")] = False,
) -> None:
    """Show registers, LDS, spills, occupancy, instructions and code hash of a file's kernels. Needs no GPU or repository.

    FILE is a HIP source (.hip, .cu, .cpp), assembly (.s, .amdgcn), PTX (.ptx), a code object (.hsaco, .co, .o, an offload
    bundle), a .cubin, or a cache folder of Triton. Sources are compiled by hipcc where ROCm is installed, else by the clang of
    the ziglang wheel. docs/INSPECT.md explains the figures.
    """
    from expctl.cli.output import print_result, terminal_width
    from expctl.domain.errors import Misused
    from expctl.domain.text import one_line
    from expctl.inspection.device_compiler import Options
    from expctl.inspection.model.change import change_between
    from expctl.inspection.model.report import select
    from expctl.inspection.readers.read_file import inspect as inspect_file
    from expctl.inspection.views.terminal import change_lines, report_lines

    if config_for is not None:
        _print_config(file, config_for, as_json)
        return
    if other is not None and diff is not None:
        raise Misused(
            "the file to compare with is named twice",
            code="two-files-to-compare",
            expected="expctl inspect FILE OTHER, or expctl inspect FILE --diff OTHER",
            found="a second FILE and --diff",
            hint=one_line(f"expctl inspect {file} {other}"),
        )
    for_sources = {"--config": config, "-D": define, "-I": include, "-O": level, "--std": standard}
    for name, value in {"--arch": arch, "--config": config, "--kernel": kernel, "-O": level, "--std": standard}.items():
        if value == "":
            raise Misused(
                f"the value of {name} is empty",
                code="option-empty",
                expected="a value",
                found="''",
                hint=f"leave {name} out for the default",
            )
    if config is not None and not CONFIG.fullmatch(config):
        raise Misused(
            "--config is not a list of numbers",
            code="not-a-config",
            expected="numbers joined by commas",
            found=one_line(config),
            hint="for example --config 1,8,2,2,8,2",
        )
    if level is not None:
        check_level(level)
    options = Options(
        arch=arch or "",
        level=f"-O{level or 3}",
        standard=f"-std={standard or 'c++17'}",
        defines=(*((f"{CONFIG_MACRO}={config}",) if config else ()), *(define or ())),
        includes=tuple(str(folder) for folder in include or ()),
    )
    asked = [name for name, value in for_sources.items() if value]

    def look(path: Path) -> "FileReport":
        report = inspect_file(path, options)
        return select(report, kernel) if kernel else report

    second = other or diff
    if second is None:
        report = look(file)
        _check_used(asked, report)
        print_result(_flat(report), lambda: report_lines(report, terminal_width()), as_json, schema="inspect/1")
        return
    change = change_between(look(file), look(second))
    _check_used(asked, change.a, change.b)
    print_result(change, lambda: change_lines(change, terminal_width()), as_json, schema="inspect-diff/1")


def _print_config(folder: Path, shape: str, as_json: bool) -> None:
    """Print file, bucket and config that a folder of tables has for a shape (docs/TUNE.md), and what it was made with."""
    from expctl.cli.output import print_result
    from expctl.cli.tune.files import refused
    from expctl.domain.errors import Misused
    from expctl.domain.text import one_line
    from expctl.tables.folder import read_folder
    from expctl.tables.table import BadTable

    if not SHAPE.fullmatch(shape):
        raise Misused(
            "--config-for is not a shape",
            code="not-a-shape",
            expected="M,N,K, or M,N,K,B for a batch of B, each a number from 1",
            found=one_line(shape),
            hint="for example --config-for 64,512,128",
        )
    try:
        tables = read_folder(folder)
        if not tables.tables:
            raise BadTable(f"{folder}: expected a folder with DEFAULT.json, found none")
        choice = tables.look_up(*map(int, shape.split(",")))
    except ValueError as error:  # a BadTable, or a number of thousands of digits
        raise refused(error) from error
    made_with = dict(tables.tables[choice.file].made_with)
    settings = choice.settings or {}
    facts = {"file": choice.file, "bucket": choice.bucket, "tuned": choice.tuned, "settings": settings, "made_with": made_with}
    lines = [
        f"{shape}: {', '.join(f'{name} {value}' for name, value in settings.items()) or 'the build chooses'}",
        f"  file       {choice.file}",
        f"  bucket     {choice.bucket}, {'tuned' if choice.tuned else 'not tuned'}",
        *(f"  {name:<10} {one_line(fact) or 'none'}" for name, fact in made_with.items()),
    ]
    print_result(facts, lambda: lines, as_json, schema="inspect-config/1")


def check_level(level: str) -> None:
    """Raise Misused if `level` is not one of LEVELS."""
    from expctl.domain.errors import Misused
    from expctl.domain.text import one_line

    if level not in LEVELS:
        raise Misused(
            "-O is not an optimization level",
            code="not-an-optimization-level",
            expected=f"one of {', '.join(LEVELS)}",
            found=one_line(level),
            hint="for example -O 2",
        )


def _check_used(asked: list[str], *reports: "FileReport") -> None:
    from expctl.domain.errors import Misused
    from expctl.domain.text import plain_text
    from expctl.inspection.model.report import Form

    if asked and all(each.form is not Form.SOURCE for each in reports):
        raise Misused(
            f"{', '.join(asked)} can't change what is compiled already",
            code="option-needs-source",
            expected="a source, for these options",
            found=" and ".join(each.form for each in reports),
            where=plain_text(reports[0].file),
            hint=f"leave {', '.join(asked)} out, or give the source",
        )


def _flat(report: "FileReport") -> dict[str, Any]:
    """Return the report as a dict for JSON; if the file has only one kernel, its figures also stand at the top level."""
    from expctl.adapters.codec.decode import encode

    facts: dict[str, Any] = encode(report)
    return facts | facts["kernels"][0] if len(report.kernels) == 1 else facts
