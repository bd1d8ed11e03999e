"""Tests, times and profiles the model on a CPU: python bench/cpu.py model.py, with --test for the guards."""

import os
import sys

os.environ |= {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": ""}  # else a trace lists a GPU, without a kernel on it

from inference import Inference
from running import compile_on_all_cores, run_test, take_trace
from traces import name_compiled_kernels

from expctl.harness import serve


class OnCpu(Inference):
    where, trace = "cpu", take_trace()


if OnCpu.trace:
    compile_on_all_cores()
    name_compiled_kernels()
if sys.argv[2:] == ["--test"]:
    sys.exit(run_test(OnCpu))
serve(OnCpu)
