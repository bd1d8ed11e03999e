"""Writes a trace of torch.profiler of calls of all sizes, for `expctl profile` and the classes of a record."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from expctl.harness.author import Author
from expctl.harness.libraries import package
from expctl.harness.timed_size import TimedSize


def name_compiled_kernels() -> None:
    """Have torch's compiler put the kernels that it makes for a CPU into traces. Called before anything is compiled."""
    os.environ["TORCHINDUCTOR_CPP_ENABLE_KERNEL_PROFILE"] = "1"
    config = sys.modules.get("torch._inductor.config")
    if config is not None:  # it has read the environment already
        config.cpp.enable_kernel_profile = True


def write_trace(author: Author, sizes: Sequence[TimedSize], launches: int, file: Path) -> None:
    """Call each size `launches` times under torch.profiler and write its trace to `file`; nothing is drawn meanwhile.

    Raises Fault without torch, BuildFailed for a call that fails.
    """
    torch = package("torch")
    activities = torch.profiler.ProfilerActivity
    on_gpu = torch.cuda.is_available()
    calls = [call for size in sizes for call in size.prepared_calls(launches)]
    with author.calling():
        for call in calls:
            call()  # whatever the first call compiles is no part of the trace
    again = [call for size in sizes for call in size.prepared_calls(launches)]
    asked = [activities.CPU, activities.CUDA] if on_gpu else [activities.CPU]
    with torch.profiler.profile(activities=asked) as profiler, author.calling():
        for call in again:
            call()
        if on_gpu:
            torch.cuda.synchronize()
    profiler.export_chrome_trace(str(file))
