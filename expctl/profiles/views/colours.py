"""Colours of the classes of kernels, the same in pictures and pages."""

from expctl.profiles.model.kernel_profile import KernelClass

COLOURS = {
    KernelClass.GEMM: "#4c78a8", KernelClass.ATTENTION: "#6f4ca8", KernelClass.COMMUNICATION: "#b5443c",
    KernelClass.NORMALISATION: "#2e8b57", KernelClass.REDUCTION: "#7aa644", KernelClass.COPY: "#e0a03a",
    KernelClass.ELEMENTWISE: "#e07b39", KernelClass.OTHER: "#8a929c", KernelClass.CONVOLUTION: "#2f6f8f",
    KernelClass.EMBEDDING: "#c98bb9", KernelClass.FFT: "#5b5ea6",
}  # fmt: skip
