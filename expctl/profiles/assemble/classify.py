"""Classify kernels by name (GEMM, copy, ...). The first rule that matches decides, so more specific rules come first."""

import re

from expctl.domain.patch.function_name import UNNAMED, function_name
from expctl.profiles.model.kernel_profile import KernelClass

_RULES: tuple[tuple[KernelClass, str], ...] = (
    (
        KernelClass.COMMUNICATION,
        r"nccl|rccl|all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|nvshmem|rocshmem|one_?shot|two_?shot|cross_device_reduce"
        r"|quick_?reduce",
    ),
    (
        KernelClass.ATTENTION,
        r"flash|fmha|attention|attn|paged_?kv|pagedattn|\bmha_|_mha_|mla_|sdpa|fused_?softmax_?v|splitkv|decode_grouped",
    ),
    (
        KernelClass.GEMM,
        r"^Cijk_|^Custom_Cijk_|tensile|gemm|\bsgemv|gemv|matmul|mul_mat|mat_mul|scaled_mm|_mm_|_bmm|nvjet|xmma|cutlass|wmma|mfma"
        r"|wvsplitk|skinny|marlin|fused_moe_kernel|conv\d?d|convolve|convolution|grouped_conv|asmconv|implicit_convolve"
        r"|winograd|igemm|naive_conv|batched_dot|dot_kernel|splitKreduce|_mm\b|\bmm_",
    ),
    (KernelClass.ELEMENTWISE, r"\brope|_rope|rotary"),
    (
        KernelClass.NORMALISATION,
        r"layer_?norm|rms_?norm|batch_?norm|group_?norm|instance_?norm|softmax|bnfwd|bnbwd|norm_(fwd|bwd|kernel|f32|f16)|miopenbatchnorm"
        r"|gamma_?beta",
    ),
    (
        KernelClass.COPY,
        r"copybuffer|fillbuffer|memcpy|memset|copy_kernel|direct_copy|catarraybatched|concat|_to_copy|transpose|permute|cpy_|k_get_rows"
        r"|gather|scatter|indexselect|index_elementwise|fillfunctor|\bfill|copyImage|im2col|reshape_and_cache|set_rows|\bcast"
        r"|_cast|convert_|float8_copy|float16_copy|vectorized_gather|embedding",
    ),
    (
        KernelClass.REDUCTION,
        r"reduce|reduction|\bsum_|_sum|argmax|argmin|topk|cumsum|\bscan|_scan|sort|histogram|\bcub::|hipcub|rocprim|mean_kernel|norm",
    ),
    (
        KernelClass.ELEMENTWISE,
        r"elementwise|pointwise|triton_poi|vectorized_|unary|binary|bin_bcast|functor|activation|silu|gelu|relu|swiglu|geglu|rope"
        r"|rotary|\badd|_add|\bmul|_mul|\bsub|\bdiv|add_kernel|mul_kernel|adam|sgd|multi_tensor_apply|dropout|distribution|philox|random"
        r"|scale_|quant|bias|optimizer|subtensorop|op_?tensor|masked|where|clamp|triton_per|addition|subtract|multiply|divide",
    ),
)  # fmt: skip
_TRITON_REDUCTION = re.compile(r"^triton_(red|per)_")
_WRAPPER = re.compile(r"(elementwise|index)_kernel")
"""Function names that PyTorch gives to every functor it launches; the functor's name tells what it does."""
_COPYING = re.compile(r"\w*copy_kernel|FillFunctor")
_COMPILED = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _RULES)


def classify(name: str) -> KernelClass:
    """Return the class of the kernel `name`, mangled or not; OTHER when no rule matches."""
    name = UNNAMED.sub("", name)
    head = function_name(name)  # the function's own name decides before a template argument such as `CopyFunctor`
    if _WRAPPER.search(head) and _COPYING.search(name):
        return KernelClass.COPY
    if _TRITON_REDUCTION.match(head) and not re.search(r"norm|softmax|copy", head):
        return KernelClass.REDUCTION
    for kind, pattern in _COMPILED:
        if pattern.search(head):
            return kind
    for kind, pattern in _COMPILED:
        if pattern.search(name):
            return kind
    return KernelClass.OTHER
