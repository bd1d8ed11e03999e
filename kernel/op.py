"""The operator for torch users: `prepack` once, then `scaled_mm`.

It runs on the CPU and on the GPUs that the kernel is built for (CUDA and ROCm), on torch's current stream: eagerly, under
torch.compile and in a CUDA graph. Its first call on a device finds or makes a build. It has no gradient.
"""

from __future__ import annotations

from numbers import Real

import torch
from torch import Tensor
from torch.compiler import is_compiling
from torch.nn import Parameter

from kernel.operator import direct
from kernel.operator.arguments import NUMBERS, extents, format_number, require
from kernel.operator.launches import MADE, launch_on
from kernel.operator.packed import library_on, pack, pieces
from kernel.runtime.formats import PIECE_K

_PLAIN = {Tensor, Parameter, type(None)}


def prepack(b: Tensor) -> Tensor:
    """Reorder fp8 (K, N) as the kernel of its device reads it: (P, N, 16) of the same dtype; P is ceil(K/16), or more.

    On the CPU and gfx1151, 16 consecutive k of a column lie together, zero after the last k. Another GPU may have an order of
    its own: prepack B on the device that it is used on, once per weight matrix, outside of any timed region. Raises
    ValueError, BuildError or LibraryError.
    """
    require(b.dtype in NUMBERS, "b", "dtype float8_e5m2 or float8_e4m3fn", b.dtype)
    require(b.dim() == 2, "b", "shape (K, N)", tuple(b.shape))
    packed: Tensor = _PREPACK(b.view(torch.uint8))
    return packed.view(b.dtype)


def scaled_mm(a: Tensor, b_prepacked: Tensor, scale: float, bias: Tensor | None = None, b_dtype: int | None = None) -> Tensor:
    """Compute C (M, N) fp16 = (a (M, K) fp16 x B) * scale + bias (N,) fp16, fp32 accumulation.

    The format of B follows from the fp8 dtype of `b_prepacked`; `b_dtype` (0 e4m3fn, 1 e5m2) is for uint8 alone. Raises
    ValueError with what was expected and found, NotImplementedError where a gradient would be needed, BuildError or
    LibraryError where no build is found or made.
    """
    compiling = is_compiling()
    if not compiling and (known := direct.call(a, b_prepacked, scale, bias, b_dtype)) is not None:
        return known
    if torch.is_grad_enabled() and (a.requires_grad or b_prepacked.requires_grad or (bias is not None and bias.requires_grad)):
        raise NotImplementedError("scaled_mm has no gradient: call it under torch.no_grad(), or detach what requires one")
    if compiling or _is_intercepted(a, b_prepacked, bias):
        result: Tensor = _OPERATOR(a, b_prepacked, scale, bias, b_dtype)
        return result
    return _scaled_mm(a, b_prepacked, scale, bias, b_dtype)


def _is_intercepted(a: Tensor, b_prepacked: Tensor, bias: Tensor | None) -> bool:
    """Whether torch's dispatcher, which takes 2 us, would do more than call `_scaled_mm`: a mode, vmap, a trace, a subclass."""
    return (
        type(a) not in _PLAIN
        or type(b_prepacked) not in _PLAIN
        or type(bias) not in _PLAIN
        or torch._C._len_torch_dispatch_stack() > 0
        or torch._C._functorch.maybe_current_level() is not None
        or torch._C._get_tracing_state() is not None
        or a.is_meta
    )


def _scaled_mm(a: Tensor, b_prepacked: Tensor, scale: float, bias: Tensor | None = None, b_dtype: int | None = None) -> Tensor:
    if (known := direct.call(a, b_prepacked, scale, bias, b_dtype)) is not None:
        return known
    if type(scale) is not float:
        require(isinstance(scale, Real), "scale", "a number (reading a tensor would wait for its device)", type(scale))
        scale = float(scale)
    fp8 = format_number(b_prepacked, b_dtype)
    m, n, k = extents(a, b_prepacked, bias)
    c = a.new_empty((m, n))
    (MADE.get(a.device) or launch_on(a.device))(fp8, a, b_prepacked, scale, bias, c, m, n, k)
    return c


def _fake(a: Tensor, b_prepacked: Tensor, scale: float, bias: Tensor | None = None, b_dtype: int | None = None) -> Tensor:  # noqa: ARG001 - the signature of the operator
    return a.new_empty((a.shape[0], b_prepacked.shape[1]), dtype=torch.float16)


def _prepack(b: Tensor) -> Tensor:
    return pack(library_on(b.device), b.contiguous())


def _fake_prepack(b: Tensor) -> Tensor:
    k, n = map(int, b.shape)
    return b.new_empty((pieces(library_on(b.device), b.device, n, k), n, PIECE_K))


# Not torch.library.custom_op: a call of one costs 8 us, of this 2.
_LIBRARY = torch.library.Library("expctl", "FRAGMENT")
_LIBRARY.define(
    "scaled_mm_prepacked(Tensor a, Tensor b_prepacked, float scale, Tensor? bias=None, int? b_dtype=None) -> Tensor",
    tags=(torch.Tag.pt2_compliant_tag, torch.Tag.needs_exact_strides),
)
_LIBRARY.impl("scaled_mm_prepacked", _scaled_mm, "CompositeExplicitAutograd")
torch.library.register_fake("expctl::scaled_mm_prepacked", _fake, lib=_LIBRARY)
_LIBRARY.define("prepack(Tensor b) -> Tensor", tags=(torch.Tag.pt2_compliant_tag,))
_LIBRARY.impl("prepack", _prepack, "CompositeExplicitAutograd")
torch.library.register_fake("expctl::prepack", _fake_prepack, lib=_LIBRARY)
_PREPACK = torch.ops.expctl.prepack.default
_OPERATOR = torch.ops.expctl.scaled_mm_prepacked.default
