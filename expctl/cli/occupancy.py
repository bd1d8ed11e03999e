"""The command `expctl occupancy`: compute how many waves fit on a GPU's SIMD, given the resources of a kernel."""

from typing import Annotated

import typer


def occupancy(
    vgpr: Annotated[int, typer.Option(help="Vector registers of a wave, accumulation registers included.")],
    workgroup: Annotated[int, typer.Option(help="Work-items of a workgroup.")],
    lds: Annotated[int, typer.Option(metavar="BYTES", help="LDS (shared memory) of a workgroup.")] = 0,
    sgpr: Annotated[int, typer.Option(help="Scalar registers of a wave.")] = 0,
    arch: Annotated[str, typer.Option(metavar="GPU", help="gfx90a to gfx1201, or sm_70 to sm_100.")] = "gfx1151",
    wave: Annotated[int | None, typer.Option(help="Lanes of a wave, where the GPU has two sizes: 32 or 64.")] = None,
    cu_mode: Annotated[bool, typer.Option("--cu-mode", help="LLVM's figure for code compiled with -mcumode.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON.")] = False,
) -> None:
    """Compute how many waves fit on a SIMD (as LLVM counts), how many whole workgroups, what limits them, and
    how many registers or bytes fewer would let one more fit.

    Example, a kernel of 256 VGPRs and 17408 bytes: expctl occupancy --vgpr 256 --lds 17408 --workgroup 128
    """
    from expctl.cli.output import print_result
    from expctl.gpu.architectures import ModeName
    from expctl.gpu.headroom import Usage
    from expctl.gpu.occupancy import architecture
    from expctl.gpu.occupancy import occupancy as occupancy_of
    from expctl.inspection.views.occupancy import occupancy_lines

    usage = Usage(vgpr=vgpr, sgpr=sgpr, lds_bytes=lds, workgroup=workgroup)
    found = occupancy_of(architecture(arch, wave), usage, ModeName.CU if cu_mode else None)
    print_result(found, lambda: occupancy_lines(found), as_json, schema="occupancy/1")
