"""The ladder of optimizations of a torch model, and which rung applies to a class of kernels in a profile.

Rungs build on each other: environment, compilation, the model's code, tuning of kernels, kernels for one architecture. Within a
class the lowest rung that the profile doesn't show as taken comes first, because it costs least.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from expctl.profiles.model.kernel_profile import Kernel, KernelClass

_COMPILED = re.compile(r"^triton_(?:poi|red|per|tem|for|unk)_")
"""Kernels that torch's compiler wrote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """One step of the ladder: its level (1 to 5; 0 is the profile itself), what to try, as a sentence without a period, and the
    playbook that begins it, if there is one.
    """

    level: int
    advice: str
    playbook: str = ""


MEND = Rung(level=0, advice="mend the profile first: record torch's operators, or name your kernels by what they compute")
_COMPILE = Rung(level=2, advice="torch.compile in its default mode, without graph breaks: it fuses these", playbook="2-compile")
_GRAPHS = Rung(level=2, advice="torch.compile, then CUDA or HIP graphs: the GPU waits for launches", playbook="2-graphs")
_HOST = Rung(
    level=2, advice="the host leaves the GPU without work: look for synchronisation, input and Python between launches"
)
_PRECISION = Rung(
    level=1,
    advice="matmul precision: products of f32 run on slower units (torch.set_float32_matmul_precision)",
    playbook="1-matmul-precision",
)
_FUSED_PRODUCTS = Rung(
    level=3,
    advice="fewer, larger products (QKV, gate and up as one), then tuned configs for these shapes",
    playbook="3-qkv-fusion",
)
_MANUAL_ATTENTION = Rung(
    level=3, advice="scaled_dot_product_attention for attention written out as products and softmax", playbook="3-sdpa"
)
_BY_CLASS = {
    KernelClass.CONVOLUTION: Rung(
        level=1, advice="let the library search (MIOPEN_FIND_MODE, cudnn.benchmark), channels-last layout"
    ),
    KernelClass.ATTENTION: Rung(
        level=5,
        advice="an attention kernel of this architecture; skip masked and padded positions before",
        playbook="5-architecture-kernels",
    ),
    KernelClass.COMMUNICATION: Rung(
        level=1, advice="NUMA balancing off, one process for each GPU, more channels; then overlap it"
    ),
    KernelClass.REDUCTION: Rung(
        level=4, advice="a Triton kernel that reduces in one pass, fused with what makes its input", playbook="4-fused-kernels"
    ),
    KernelClass.EMBEDDING: Rung(level=3, advice="look up once and keep it, in a smaller type; fuse it with what follows"),
    KernelClass.FFT: Rung(
        level=4, advice="plans made once, batched, in the smallest type that holds; fuse scaling into callbacks"
    ),
}
_FUSE_MORE = Rung(
    level=4,
    advice="inductor's tuning flags, then Triton kernels that fuse these with their neighbours",
    playbook="4-inductor-flags",
)


def rung_of(kind: KernelClass, kernels: Sequence[Kernel]) -> Rung:
    """Return the rung for the class `kind` in a run of `kernels` (all of its kernels, of every class)."""
    if kind is KernelClass.OTHER:
        return MEND
    compiled = any(_COMPILED.match(kernel.name) for kernel in kernels)
    if kind in (KernelClass.ELEMENTWISE, KernelClass.COPY):
        return _FUSE_MORE if compiled else _COMPILE
    if kind is KernelClass.NORMALISATION:
        return _MANUAL_ATTENTION if _writes_attention_out(kernels) else _FUSE_MORE if compiled else _COMPILE
    if kind is KernelClass.GEMM:
        return _rung_of_products(kernels)
    return _BY_CLASS[kind]


def rung_of_idle(launch_gap_ns: int, idle_ns: int) -> Rung:
    """Return the rung for a GPU without work: launch gaps of microseconds, or long waits for the host."""
    return _GRAPHS if 2 * launch_gap_ns >= idle_ns else _HOST


def _rung_of_products(kernels: Sequence[Kernel]) -> Rung:
    products = [kernel for kernel in kernels if kernel.kind is KernelClass.GEMM]
    single = sum(kernel.total_ns or 0 for kernel in products if any(origin.kind == "f32" for origin in kernel.origins))
    if 2 * single > sum(kernel.total_ns or 0 for kernel in products):
        return _PRECISION
    return _MANUAL_ATTENTION if _writes_attention_out(kernels) else _FUSED_PRODUCTS


def _writes_attention_out(kernels: Sequence[Kernel]) -> bool:
    """Return whether batched products and a softmax are launched, but no fused attention."""
    names = {origin.operator for kernel in kernels for origin in kernel.origins}
    return {"aten::bmm", "aten::_softmax"} <= names and not any(kernel.kind is KernelClass.ATTENTION for kernel in kernels)
