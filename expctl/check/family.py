"""The GPUs whose code the interpreter runs, and what sets each apart from gfx1151, for which it is made."""

from expctl.domain.errors import Refused

NATIVE = "gfx1151"
_OLDER = "has no scalar float instructions (s_add_f32 ...), as LLVM says where assembly has one; results are the same"
_SMALLER = "has two thirds of the vector registers, so that fewer waves fit; results are the same"
DIFFERENCES = {
    "gfx1100": _OLDER, "gfx1101": _OLDER, "gfx1102": _OLDER, "gfx1103": _OLDER,
    "gfx1150": _SMALLER, NATIVE: "", "gfx1152": _SMALLER, "gfx1153": _SMALLER,
}  # fmt: skip
"""What a target lacks beside gfx1151. Source: LLVM, AMDGPU.td, FeatureISAVersion11_*."""
WAVE = 32


def check_target(arch: str, where: str) -> None:
    """Raise Refused unless the interpreter runs code for the GPU `arch`; `where` names the file."""
    if arch not in DIFFERENCES:
        raise Refused(
            f"the interpreter doesn't run code for {arch}",
            code="gpu-not-interpreted",
            expected=f"code for one of {', '.join(DIFFERENCES)}",
            found=arch,
            where=where,
            hint="give the source and no --arch: it is compiled for gfx1151",
        )


def check_waves(size: int, kernel: str, where: str) -> None:
    """Raise Refused for a kernel whose waves have another number of lanes than 32."""
    if size != WAVE:
        raise Refused(
            f"{kernel} is compiled for waves of {size} lanes (wave{size})",
            code="wave-size-not-interpreted",
            expected=f"waves of {WAVE} lanes, which clang makes for this family unless it is told otherwise",
            found=f".wavefront_size: {size}",
            where=where,
            hint="compile it without -mwavefrontsize64: clang -x hip --cuda-device-only --offload-arch=gfx1151 -S",
        )


def difference(arch: str) -> str:
    """Return in a sentence what sets a target apart from gfx1151; "" for that one."""
    return f"{arch} is run as {NATIVE}, beside which it {DIFFERENCES[arch]}" if DIFFERENCES[arch] else ""
