"""Traces of torch.profiler, for the classes of operators in a record."""

import os

import torch

LAUNCHES = 2


def name_compiled_kernels():
    """Have torch's compiler put the kernels that it makes for a CPU into traces. Called before anything is compiled."""
    os.environ["TORCHINDUCTOR_CPP_ENABLE_KERNEL_PROFILE"] = "1"
    from torch._inductor import config

    config.cpp.enable_kernel_profile = True  # torch may have read the environment already


def write_trace(build, drawn, file):
    """Call each size under torch.profiler, after a first call that may compile, and write the trace to `file`."""
    activities = [torch.profiler.ProfilerActivity.CPU]
    activities += [torch.profiler.ProfilerActivity.CUDA] if torch.cuda.is_available() else []
    for inputs in drawn:
        build(*inputs)
    with torch.profiler.profile(activities=activities) as profiler:
        for _ in range(LAUNCHES):
            for inputs in drawn:
                build(*inputs)
        if torch.cuda.is_available():
            torch.cuda.synchronize()
    profiler.export_chrome_trace(file)
