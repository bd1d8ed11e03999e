"""Recipe for target sm_90 (NVIDIA Hopper): compiles with nvcc of an installed CUDA toolkit.

What a change does is compared as clang of the Python package ziglang understands the device code, and as nvcc does.
"""

import importlib.util
import re
import shutil
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from expctl.domain.errors import Refused
from expctl.domain.experiment.record import Fact
from expctl.domain.protocol.model import Build
from expctl.domain.rules.meaning import View
from expctl.inspection.device_compiler import cuda_flags, optimiser_flags
from expctl.inspection.readers.cubin import parse_cubin
from expctl.inspection.readers.host_library import cubins
from expctl.launcher.captured import Timeout, captured
from expctl.targets.cpu import WRITTEN
from expctl.targets.kernel_facts import worst_of
from expctl.targets.vendor import VendorRecipe

TOLD = ("vgpr", "lds", "scratch", "code")
"""Registers, static shared memory, stack frame (spills, arrays that registers don't hold), code: a cubin says no more."""


def arch_option(arch: str) -> str:
    """Return nvcc's option for `arch`. For one with instructions of its own (sm_90a), -arch would also compile for all its
    successors, which have not got them.
    """
    version = arch.removeprefix("sm_")
    return f"-gencode=arch=compute_{version},code={arch}" if arch[-1:] in "af" else f"-arch={arch}"


def device_facts(library: Path) -> tuple[Fact, ...]:
    """Return the figures TOLD of the worst kernel in a host library; () where it has no cubin that can be read."""
    found = []
    for data in cubins(library):
        try:
            found.append(parse_cubin(data, str(library)))
        except Refused:  # nvcc also embeds one without a kernel
            continue
    return worst_of(found, TOLD)


@cache
def toolkit_headers() -> Path | None:
    """Return the folder with the headers of the CUDA toolkit that nvcc on PATH belongs to; None if there is none."""
    if shutil.which("nvcc") is None:
        return None
    try:
        said = captured(("nvcc", "--dryrun", "-E", "-x", "cu", "/dev/null"), timeout_s=ASKED_S)
    except (OSError, Timeout):
        return None
    found = (Path(each) for each in _INCLUDE.findall(said.err))
    return next((folder for folder in found if (folder / "cuda_runtime_api.h").is_file()), None)


def device_meaning(build: Build, out: Path, view: View) -> tuple[str, ...]:
    """Return the call of clang that writes LLVM IR of the device code, all of it inlined as nvcc does, or not optimised at all;
    of a source that is LLVM IR the call that optimises it. () without ziglang or the headers of a toolkit. Of nvcc's flags
    those of the language are clang's, too; the others change no meaning.
    """
    toolkit = toolkit_headers() if importlib.util.find_spec("ziglang") is not None else None
    if toolkit is None:
        return ()
    is_ir = build.source.endswith(".ll")
    flags = optimiser_flags(build.arch) if is_ir else cuda_flags(build.arch, toolkit)
    taken = (each for each in _of_the_language(build.flags) if not is_ir or each.startswith("-O"))
    how = ("-Xclang", "-disable-llvm-passes") if view is View.UNOPTIMISED else ("-mllvm", "-inline-threshold=100000")
    return ("{python}", "-m", "ziglang", "clang", *flags, *taken, *WRITTEN[View.MEANING], *how, build.source, "-o", str(out))


def _of_the_language(flags: Sequence[str]) -> Iterator[str]:
    of_pair = False
    for each in flags:
        if of_pair or each.startswith(_JOINED):
            yield each
        of_pair = not of_pair and each in _PAIRS


_INCLUDE = re.compile(r'"-I([^"]+)"')
_PAIRS = ("-D", "-U", "-I", "-isystem", "-include")
_JOINED = ("-O", "-std=", *_PAIRS)
ASKED_S = 10


NVCC = VendorRecipe(
    program="nvcc",
    arch_option=arch_option,
    fixed=("-shared", "-Xcompiler", "-fPIC", "-no-compress"),  # so that the figures can be read
    written={
        **dict.fromkeys((View.MEANING, View.CODE), ("-ptx",)),
        View.STATEMENTS: ("-E",),
        View.SOURCE: ("-E", "-Xcompiler", "-P"),
    },
    meaning=device_meaning,
    hint="install the CUDA toolkit (nvcc, ncu) and put its bin folder on PATH",
    facts=device_facts,
)
