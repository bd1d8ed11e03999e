"""Serves the model on a GPU, by CUDA or HIP: python bench/gpu.py model.py"""

from inference import Inference

from expctl.harness import serve


class OnGpu(Inference):
    """The model in the GPU's memory."""

    where = "cuda"


serve(OnGpu)
