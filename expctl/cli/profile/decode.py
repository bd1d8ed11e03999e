"""The command `expctl profile decode`: explain the name of a Tensile kernel."""

from pathlib import Path
from typing import Annotated

import typer


def decode(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A kernel's name, as a profile shows it.")],
    arch: Annotated[str, typer.Option(metavar="GPU", help="Where it ran: gfx1151, ... Tells the lanes of a wave.")] = "",
    record: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The solution's parameters as JSON: shows which the generator changed.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON.")] = False,
) -> None:
    """Take a Tensile or TensileLite kernel name apart: problem, tile, and every key with its meaning. Names hold what was
    requested of the generator. What a name leaves out is listed as unknown, never filled in.
    """
    from expctl.cli.output import print_result
    from expctl.cli.profile.options import gpu
    from expctl.domain.errors import Refused
    from expctl.domain.text import one_line
    from expctl.gpu.tensile.decode import decode_name
    from expctl.profiles.views.tensile import tensile_lines

    reading = decode_name(name, gpu(arch), _recorded(record) if record else None)
    if reading is None:
        raise Refused(
            "this is not the name of a Tensile kernel",
            code="not-a-kernel-name",
            expected="Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_..., with a problem (Cijk_A..._B...) or a macro tile (MT...)",
            found=one_line(name, 200),
            hint="copy the whole name from the profile, in quotes",
        )
    print_result(reading, lambda: tensile_lines(reading), as_json, schema="profile-decode/1")


def _recorded(path: Path) -> dict[str, object]:
    from expctl.domain.errors import Refused
    from expctl.files.parse_json import parse_json
    from expctl.files.user_file import contents

    text = contents(path, "the record", bytes_max=1_000_000)
    try:
        found = parse_json(text.decode())
    except ValueError as error:
        raise Refused(
            "the file of --record is not JSON",
            code="tuning-record-not-json",
            expected="one JSON object with the solution's parameters",
            found=str(error),
            where=str(path),
            hint="check the path, or leave --record out",
        ) from error
    if not isinstance(found, dict):
        raise Refused(
            "the file of --record holds no JSON object",
            code="tuning-record-not-an-object",
            expected='the solution\'s parameters, such as {"PrefetchGlobalRead": 1, ...}',
            found=text[:60].decode(errors="replace"),
            where=str(path),
            hint="give the solution's parameters as one object, or leave --record out",
        )
    return found
