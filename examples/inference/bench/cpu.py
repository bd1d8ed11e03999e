"""Serves the model on a CPU: python bench/cpu.py model.py"""

from inference import Inference

from expctl.harness import serve


class OnCpu(Inference):
    """The model in host memory."""

    where = "cpu"


serve(OnCpu)
