"""Read the AMDGPU metadata of one kernel, whose keys are the same in a code object (msgpack) and in assembly text (YAML).

Source: LLVM's AMDGPU usage guide, "Code Object V3 and above Metadata".
"""

from collections.abc import Mapping
from typing import Any

from expctl.domain.errors import Refused
from expctl.gpu.architectures import ModeName
from expctl.inspection.model.report import Resources

_COUNT, _BYTES = (0, 1024), (0, (1 << 32) - 1)
# Ranges that hold for every GPU; the limits of one GPU are checked when its occupancy is computed.
NUMBERS = {
    ".vgpr_count": _COUNT,
    ".agpr_count": _COUNT,
    ".sgpr_count": _COUNT,
    ".group_segment_fixed_size": _BYTES,
    ".private_segment_fixed_size": _BYTES,
    ".vgpr_spill_count": _BYTES,
    ".sgpr_spill_count": _BYTES,
    ".max_flat_workgroup_size": (1, 1024),
    ".wavefront_size": (32, 64),
}
REQUIRED = (".name", *(key for key in NUMBERS if key not in (".agpr_count", ".vgpr_spill_count", ".sgpr_spill_count")))


def arch_of_target(target: str) -> str:
    """Return the processor that an LLVM target ID names, e.g. gfx90a for `amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-`, and
    gfx1151 for `amdgpu11.51-amd-amdhsa-unknown-gfx1151`.
    """
    return target.split(":", 1)[0].rsplit("-", 1)[-1]


def resources_of(
    entry: Mapping[str, Any], *, mode: ModeName, code_bytes: int | None, printed_occupancy: int | None, where: str
) -> Resources:
    """Return a kernel's resources, as given in its metadata `entry` and the other arguments. Raises Refused, naming the file
    `where`, if a key of the metadata is missing or bad.
    """
    present = {key: entry[key] for key in NUMBERS if key in entry}
    numbers = {key: value for key, value in present.items() if isinstance(value, int) and not isinstance(value, bool)}
    missing = [key for key in REQUIRED if key not in entry]
    wrong = [key for key in present if key not in numbers]
    if missing or wrong:
        raise Refused(
            "the metadata of a kernel lacks keys, or has values that are not numbers",
            code="metadata-incomplete",
            expected=f"a value for {', '.join([*missing, *wrong])}",
            found=f"no {', '.join(missing)}" if missing else f"no number for {', '.join(wrong)}",
            where=where,
            hint="rebuild the file with code object version 3 or later",
        )
    for key, value in numbers.items():
        least, most = NUMBERS[key]
        if not least <= value <= most:
            raise Refused(
                "the metadata of a kernel has an impossible value",
                code="metadata-damaged",
                expected=f"{key} of {least} to {most}",
                found=str(value),
                where=where,
                hint="rebuild the file",
            )
    return Resources(
        name=str(entry[".name"]),
        vgpr=numbers[".vgpr_count"],
        agpr=numbers.get(".agpr_count", 0),
        sgpr=numbers[".sgpr_count"],
        lds_bytes=numbers[".group_segment_fixed_size"],
        scratch_bytes=numbers[".private_segment_fixed_size"],
        vgpr_spills=numbers.get(".vgpr_spill_count", 0),
        sgpr_spills=numbers.get(".sgpr_spill_count", 0),
        workgroup=numbers[".max_flat_workgroup_size"],
        wave=numbers[".wavefront_size"],
        mode=mode,
        code_bytes=code_bytes,
        printed_occupancy=printed_occupancy,
    )
