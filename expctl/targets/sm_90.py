"""Recipe for target sm_90 (NVIDIA Hopper): compiles with nvcc of an installed CUDA toolkit."""

from pathlib import Path

from expctl.domain.errors import Refused
from expctl.domain.experiment.record import Fact
from expctl.domain.rules.meaning import View
from expctl.inspection.readers.cubin import parse_cubin
from expctl.inspection.readers.host_library import cubins
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


NVCC = VendorRecipe(
    program="nvcc",
    arch_option=arch_option,
    fixed=("-shared", "-Xcompiler", "-fPIC", "-no-compress"),  # so that the figures can be read
    written={View.MEANING: ("-ptx",), View.STATEMENTS: ("-E",), View.SOURCE: ("-E", "-Xcompiler", "-P")},
    hint="install the CUDA toolkit (nvcc, ncu) and put its bin folder on PATH",
    facts=device_facts,
)
