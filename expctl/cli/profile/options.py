"""Check and convert the option values of `expctl profile` (expressions, GPUs, sizes, types, bytes) before a file is opened."""

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from expctl.profiles.assemble.analysis import Problem
    from expctl.profiles.model.attribution import AttributeTo
    from expctl.profiles.model.kernel_profile import Kernel

TYPES = ("f64", "f32", "tf32", "f16", "bf16", "f8", "i8")


def profile_path(text: str) -> Path:
    """Return `text` as a path. Raises Misused for "" (often an unset shell variable), which would mean the current folder."""
    from expctl.domain.errors import Misused

    if not text:
        raise Misused("the path of a profile is empty", code="no-profile-named", expected="a file or a folder", found="''")
    return Path(text)


def expression(text: str, option: str) -> re.Pattern[str]:
    """Compile `text`, the value of the command line's `option`. Raises Misused if it is not a regular expression."""
    from expctl.domain.errors import Misused

    try:
        return re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise Misused(
            f"{option} is not a regular expression",
            code="not-a-regular-expression",
            expected="an expression that Python's re module accepts",
            found=f"{text}: {error}",
        ) from error


def gpu(text: str) -> str:
    """Return `text` (the value of --arch). Raises Misused unless it is "" or the name of a GPU architecture."""
    from expctl.domain.errors import Misused
    from expctl.gpu.targets import is_target

    if text and not is_target(text):
        raise Misused("--arch is not a GPU architecture", code="not-a-gpu", expected="gfx1151, gfx90a, sm_90, ...", found=text)
    return text


def attribute_to(text: str) -> "AttributeTo | None":
    """Return `text` (the value of --by) as what to sum up by, None for "". Raises Misused for any other word."""
    from expctl.domain.errors import Misused
    from expctl.profiles.model.attribution import AttributeTo

    words = [each.value for each in AttributeTo]
    if text and text not in words:
        raise Misused(
            "--by names nothing that time can be summed up by",
            code="unknown-attribution",
            expected=", ".join(words),
            found=text,
            hint="--by operator",
        )
    return AttributeTo(text) if text else None


def check_choice(kernel: str, kind: str) -> None:
    """Check the values of --kernel and --class before a file is opened. Raises Misused for a malformed expression, and for a
    word that names no class.
    """
    from expctl.domain.errors import Misused
    from expctl.profiles.model.kernel_profile import KernelClass

    expression(kernel, "--kernel")
    if kind and kind.lower() not in {each.value.lower() for each in KernelClass}:
        raise Misused(
            "--class names no class of kernels",
            code="unknown-kernel-class",
            expected=", ".join(each.value for each in KernelClass),
            found=kind,
        )


def chosen_kernels(kernels: "Sequence[Kernel]", kernel: str, kind: str) -> "list[Kernel]":
    """Return those of `kernels` whose names --kernel matches and which are of the class --class; an empty option takes all.
    Raises Misused for malformed options, and if no kernel is left of some.
    """
    from expctl.domain.errors import Misused

    check_choice(kernel, kind)
    pattern = expression(kernel, "--kernel")
    found = [each for each in kernels if kind.lower() in ("", each.kind.value.lower()) and pattern.search(each.name)]
    if kernels and not found:
        raise Misused(
            "no kernel of this profile matches --kernel and --class",
            code="no-kernel-left",
            expected="an expression and a class that occur in the profile",
            found=f"{kernel or kind}, among {len(kernels)} kernels",
            hint="expctl profile show PATH lists them",
        )
    return found


def problem_of(size: str, types: str, moves: list[str], clock: float | None, bandwidth: float | None) -> "Problem":
    """Return the GEMM, clock (MHz) and bandwidth (GB/s) that the options describe. Raises Misused for a malformed option."""
    from expctl.domain.errors import Misused
    from expctl.profiles.assemble.analysis import Problem

    kinds = tuple(types.split(",")) if types else ("f16", "f16", "f16")
    if len(kinds) != 3 or any(each not in TYPES for each in kinds):
        raise Misused(
            "--types does not name three number types",
            code="not-number-types",
            expected=f"A,B,C, each one of {', '.join(TYPES)}",
            found=types,
            hint="--types f16,f16,f16, or leave --types out",
        )
    for option, value in (("--clock", clock), ("--bandwidth", bandwidth)):
        if value is not None and not math.isfinite(value):
            raise Misused(f"{option} is no number", code="option-not-a-number", expected="a finite number", found=str(value))
    return Problem(
        size=_size(size),
        types=(kinds[0], kinds[1], kinds[2]),
        types_given=bool(types),
        moves=tuple(map(_moved, moves)),
        clock_mhz=clock,
        bandwidth_gbs=bandwidth,
    )


def _moved(text: str) -> tuple[re.Pattern[str], int]:
    from expctl.domain.errors import Misused

    name, _, count = text.rpartition("=")
    if not name or not (count.isascii() and count.isdigit() and len(count) < 20):
        raise Misused(
            "--moves is not REGEX=BYTES",
            code="not-bytes-of-a-kernel",
            expected="an expression for kernel names and their bytes per call, such as to_copy=201326592",
            found=text,
            hint="--moves to_copy=201326592",
        )
    return expression(name, "--moves"), int(count)


def _size(text: str) -> tuple[int, int, int] | None:
    from expctl.domain.errors import Misused

    if not text:
        return None
    parts = re.split("[,x]", text)
    if len(parts) == 1:
        parts *= 3
    if len(parts) != 3 or not all(part.isascii() and part.isdigit() and 0 < len(part) < 20 and int(part) > 0 for part in parts):
        raise Misused(
            "--size is not the size of a matrix product",
            code="not-a-problem-size",
            expected="M,N,K or one number for all three",
            found=text,
            hint="--size 8192,8192,8192",
        )
    m, n, k = map(int, parts)
    return m, n, k
