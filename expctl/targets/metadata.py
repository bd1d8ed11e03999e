"""The AMDGPU metadata of one kernel: the same keys in a code object's note (msgpack) and in assembly text (YAML).

Source: LLVM's AMDGPU usage guide, "Code Object V3 and above Metadata".
"""

from collections.abc import Mapping
from typing import Any

from expctl.domain.architectures import ModeName
from expctl.domain.errors import Refused
from expctl.domain.inspection import Resources

REQUIRED = (
    ".name",
    ".vgpr_count",
    ".sgpr_count",
    ".group_segment_fixed_size",
    ".private_segment_fixed_size",
    ".max_flat_workgroup_size",
    ".wavefront_size",
)


def arch_of_target(target: str) -> str:
    """The processor of `amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-`."""
    return target.rsplit("--", 1)[-1].split(":", 1)[0]


def resources_of(
    entry: Mapping[str, Any], *, mode: ModeName, code_bytes: int | None, printed_occupancy: int | None, where: str
) -> Resources:
    """Raises Refused if a key is missing or is no number."""
    missing = [key for key in REQUIRED if key not in entry]
    numbers = {key: value for key, value in entry.items() if isinstance(value, int) and not isinstance(value, bool)}
    wrong = [key for key in REQUIRED[1:] if key in entry and key not in numbers]
    if missing or wrong:
        raise Refused(
            "the metadata of a kernel is not complete",
            expected=", ".join([*missing, *wrong]),
            found="missing" if missing else "no number",
            where=where,
            hint="rebuild the file with code object version 3 or later",
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
