"""Recipe for target sm_90 (NVIDIA Hopper): compiles with nvcc of an installed CUDA toolkit."""

from expctl.targets.vendor import VendorRecipe

NVCC = VendorRecipe(
    program="nvcc",
    arch_option="-arch=",
    fixed=("-shared", "-Xcompiler", "-fPIC"),
    hint="install the CUDA toolkit (nvcc, ncu) and put its bin folder on PATH",
)
