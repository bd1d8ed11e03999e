"""Parse the description of a kernel in clang's text: .amdhsa_ directives, and the argument list in the metadata."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from expctl.gfx11.text.errors import BadLaunch, Unsupported
from expctl.gfx11.text.program import lines_of

_DIRECTIVE = re.compile(r"^\s*\.amdhsa_(\w+)\s+(\S+)")
_ENTRY = re.compile(r"^\s*(-\s+)?\.?(\w+):\s*(.*)$")
_REQUIRED = {
    "float_round_mode_32": "0", "float_round_mode_16_64": "0", "float_denorm_mode_32": "3", "float_denorm_mode_16_64": "3",
    "dx10_clamp": "1", "ieee_mode": "1", "fp16_overflow": "0", "wavefront_size32": "1",
}  # fmt: skip
"""Directives that must have these values: the interpreter's arithmetic rounds to nearest even, keeps denormals, is wave32."""
_USER = (("private_segment_buffer", 4), ("dispatch_ptr", 2), ("queue_ptr", 2), ("kernarg_segment_ptr", 2), ("dispatch_id", 2),
         ("flat_scratch_init", 2), ("private_segment_size", 1))  # fmt: skip
_GIVEN = ("dispatch_ptr", "queue_ptr", "kernarg_segment_ptr", "dispatch_id", "private_segment_size")
DYNAMIC_STACK = 16 << 10
"""Bytes of private memory for functions whose need the compiler doesn't know, as all are without optimisation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """One kernel argument: offset and size in bytes; `kind` is the metadata's value_kind (global_buffer, by_value, ...)."""

    offset: int
    size: int
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Descriptor:
    """The kernel's resources and what its waves' registers hold at the start. Sizes are in bytes. `lds_bytes` is the static LDS
    of a workgroup, `private_bytes` the scratch memory of a lane.
    """

    name: str
    arguments: tuple[Argument, ...]
    kernarg_bytes: int
    lds_bytes: int
    private_bytes: int
    vector_registers: int
    user: tuple[tuple[str, int], ...]
    """(directive's name, number of registers) of what the first scalar registers hold, in order."""
    user_registers: int
    """How many scalar registers come before those of `workgroup_ids`; gfx1100 reserves more than `user` needs."""
    workgroup_ids: tuple[bool, bool, bool]
    """Flags for x, y, z: that coordinate of the workgroup is in a scalar register after those of `user`."""
    workitem_axes: int
    """How many of the thread's x, y, z are packed into v0, ten bits each."""
    most_threads: int


def parse_descriptor(assembly: str, name: str) -> Descriptor:
    """Parse the directives and metadata of kernel `name`. Raises BadLaunch if they are missing, Unsupported for bad values."""
    directives = _directives(assembly, name)
    for key, value in _REQUIRED.items():
        number, found = directives.get(key, (0, value))
        if found != value:
            raise Unsupported(f".amdhsa_{key} must be {value}", line=number, text=f".amdhsa_{key} {found}")

    def number_of(key: str, default: int = 0) -> int:
        number, found = directives.get(key, (0, str(default)))
        if not found.isdigit():
            raise Unsupported(f"the value of .amdhsa_{key} is not a number", line=number, text=found)
        return int(found)

    user = tuple((key, count) for key, count in _USER if number_of(f"user_sgpr_{key}"))
    if unknown := [key for key, _ in user if key not in _GIVEN]:
        raise BadLaunch(
            f"the gfx11 interpreter can't provide the {unknown[0]} that a kernel asks for",
            code="register-not-emulated",
            expected=f"no initial scalar registers but {', '.join(_GIVEN)}",
            found=f".amdhsa_user_sgpr_{unknown[0]} 1",
            where=f"kernel {name}",
            hint="compile without the builtin that needs it",
        )
    needed = sum(count for _, count in user)
    if needed > (reserved := number_of("user_sgpr_count", needed)):
        raise BadLaunch(
            "the assembly reserves too few scalar registers for what a kernel is given at its start",
            code="user-registers-too-few",
            expected=f".amdhsa_user_sgpr_count of at least {needed}",
            found=str(reserved),
            where=f"kernel {name}",
            hint="write the file anew with clang -S",
        )
    facts, arguments = _metadata(lines_of(assembly), name)
    return Descriptor(
        name=name,
        arguments=arguments,
        kernarg_bytes=number_of("kernarg_size"),
        lds_bytes=number_of("group_segment_fixed_size"),
        private_bytes=number_of("private_segment_fixed_size") + DYNAMIC_STACK * number_of("uses_dynamic_stack"),
        vector_registers=number_of("next_free_vgpr", 256),
        user=user,
        user_registers=reserved,
        workgroup_ids=(
            bool(number_of("system_sgpr_workgroup_id_x", 1)),
            bool(number_of("system_sgpr_workgroup_id_y")),
            bool(number_of("system_sgpr_workgroup_id_z")),
        ),
        workitem_axes=number_of("system_vgpr_workitem_id") + 1,
        most_threads=int(facts.get("max_flat_workgroup_size", "1024")),
    )


def _directives(assembly: str, name: str) -> dict[str, tuple[int, str]]:
    """Return directive -> (line number, value) for kernel `name`, read between .amdhsa_kernel and .end_amdhsa_kernel."""
    kernels = _all_directives(assembly)
    if name not in kernels:
        raise BadLaunch(
            f"the assembly has no kernel {name}",
            code="assembly-has-no-kernel",
            expected=f"a line .amdhsa_kernel {name}",
            found=f"the kernels {', '.join(kernels)}" if kernels else "no kernel at all",
            hint="give the mangled name, as the assembly has it",
        )
    return kernels[name]


@lru_cache(maxsize=2)
def _all_directives(assembly: str) -> dict[str, dict[str, tuple[int, str]]]:
    """Return kernel -> directive -> (line number, value). If a kernel is described twice, the first description is used."""
    kernels: dict[str, dict[str, tuple[int, str]]] = {}
    inside: dict[str, tuple[int, str]] | None = None
    for number, line in enumerate(lines_of(assembly), 1):
        if "amdhsa_" not in line:
            continue
        if line.strip() == ".end_amdhsa_kernel":
            inside = None
        elif match := _DIRECTIVE.match(line):
            if match[1] == "kernel":
                inside = kernels.setdefault(match[2], {}) if match[2] not in kernels else {}
            elif inside is not None:
                inside[match[1]] = (number, match[2])
    return kernels


def _metadata(lines: tuple[str, ...], name: str) -> tuple[dict[str, str], tuple[Argument, ...]]:
    """Return the fields and arguments of kernel `name` from the metadata. Raises BadLaunch if it isn't there. clang writes the
    metadata as block-style YAML: kernels are list entries indented by two, their arguments entries indented by six.
    """
    try:
        begin = lines.index("amdhsa.kernels:") + 1
    except ValueError:
        raise BadLaunch(
            f"the assembly has no metadata, which lists the arguments of kernel {name}",
            code="assembly-has-no-metadata",
            expected="a line amdhsa.kernels: after .amdgpu_metadata",
            found="no such line",
            hint="write the file anew with clang -S, and give all of it",
        ) from None
    kernels: list[tuple[dict[str, str], list[dict[str, str]]]] = []
    for line in lines[begin:]:
        match = _ENTRY.match(line)
        if not line.startswith(" ") or match is None:
            break
        indent = len(line) - len(line.lstrip())
        if indent == 2:
            kernels.append(({}, []))
        if indent >= 6:
            if match[1]:
                kernels[-1][1].append({})
            kernels[-1][1][-1][match[2]] = match[3].strip()
        else:
            kernels[-1][0][match[2]] = match[3].strip()
    for facts, raw in kernels:
        if facts.get("name") == name:
            return facts, tuple(Argument(offset=int(x["offset"]), size=int(x["size"]), kind=x["value_kind"]) for x in raw)
    described = [facts.get("name", "a kernel without a name") for facts, _ in kernels]
    raise BadLaunch(
        f"the metadata of the assembly does not describe kernel {name}",
        code="metadata-has-no-kernel",
        expected=f"an entry with .name: {name} below amdhsa.kernels:",
        found=f"entries for {', '.join(described)}" if described else "no entry",
        hint="give the kernel's name as .name has it, or write the file anew with clang -S",
    )
