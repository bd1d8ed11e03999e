"""Recipe for target sm_90 (NVIDIA Hopper): compiles with nvcc of an installed CUDA toolkit."""

from expctl.targets.vendor import VendorRecipe


def arch_option(arch: str) -> str:
    """Return nvcc's option for `arch`. For one with instructions of its own (sm_90a), -arch would also compile for all its
    successors, which have not got them.
    """
    version = arch.removeprefix("sm_")
    return f"-gencode=arch=compute_{version},code={arch}" if arch[-1:] in "af" else f"-arch={arch}"


NVCC = VendorRecipe(
    program="nvcc",
    arch_option=arch_option,
    fixed=("-shared", "-Xcompiler", "-fPIC"),
    device_only=("-ptx",),
    hint="install the CUDA toolkit (nvcc, ncu) and put its bin folder on PATH",
)
