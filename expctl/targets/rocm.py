"""Recipe for target gfx1151 (or another AMD GPU) on the hardware: compiles with hipcc of an installed ROCm."""

from expctl.targets.vendor import VendorRecipe

HIPCC = VendorRecipe(
    program="hipcc",
    arch_option="--offload-arch={}".format,
    fixed=("-shared", "-fPIC"),
    hint="install ROCm 7 or later (hipcc, rocprofv3) and put its bin folder on PATH",
)
