"""Recipe for target gfx1151 (or another AMD GPU) on the hardware: compiles with hipcc of an installed ROCm."""

from pathlib import Path

from expctl.domain.errors import Refused
from expctl.domain.experiment.record import Fact
from expctl.inspection.readers.code_object import parse_code_object
from expctl.inspection.readers.host_library import device_code
from expctl.targets.kernel_facts import worst_of
from expctl.targets.vendor import VendorRecipe


def device_facts(library: Path) -> tuple[Fact, ...]:
    """Return registers, LDS, scratch, spills, occupancy and code bytes of the worst kernel in a host library; () where it
    has no code for exactly one AMD GPU, or code that can't be read.
    """
    try:
        return worst_of([parse_code_object(device_code(library), str(library))])
    except Refused:
        return ()


HIPCC = VendorRecipe(
    program="hipcc",
    arch_option=lambda arch: f"--offload-arch={arch}",
    # Without compression, so that the figures can be read. And clang names a symbol in the GPU's code by a hash of the source's
    # path, unless it is told the ID: equal sources in two check-outs wouldn't be equal builds.
    fixed=("-shared", "-fPIC", "--no-offload-compress", "-cuid=expctl"),
    hint="install ROCm 7 or later (hipcc, rocprofv3) and put its bin folder on PATH",
    facts=device_facts,
)
