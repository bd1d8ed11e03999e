"""Tests, times and profiles the model on a GPU, by CUDA or HIP: python bench/gpu.py model.py, with --test for the guards."""

import sys

from inference import Inference
from running import run_test, take_trace

from expctl.harness import serve


class OnGpu(Inference):
    where, trace = "cuda", take_trace()


if sys.argv[2:] == ["--test"]:
    sys.exit(run_test(OnGpu))
serve(OnGpu)
