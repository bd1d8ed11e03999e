"""Families of kernels whose names mix words of several classes: what the kernel does beside moving data decides."""

import pytest

from expctl.domain.patch.function_name import function_name
from expctl.profiles.assemble.classify import classify
from expctl.profiles.model.kernel_profile import KernelClass as K

FAMILIES = {
    "casts that scale, with a transposition or without": (
        K.ELEMENTWISE,
        """
        cuda::per_channel_cast_and_transpose per_token_cast_back per_token_cast_to_f8_kernel block_scaled_cast_transpose_kernel
        transformer_engine::detail::cast_transpose_fused_kernel_notaligned cast_transpose_general_kernel
        """,
    ),
    "biases added while a layout changes": (
        K.ELEMENTWISE,
        """
        fastertransformer::add_fusedQKV_bias_transpose_kernel add_QKV_bias_transpose_kernel addQKVBiasIA3Transpose
        bias_add_transform_0213
        """,
    ),
    "images, colours, random numbers": (
        K.ELEMENTWISE,
        "imageNormalizationKernel normalize_image colorToGreyscaleConversion boxMuller quasirandomGeneratorKernel",
    ),
    "optimizers by hand": (K.ELEMENTWISE, "update_weights_kernel updateParams"),
    "rotary positions in mixed capitals": (K.ELEMENTWISE, "RoPEKernel applyRoPE fusedRoPEKernel MRoPE RoPe_rotation_kernel"),
    "gradients of losses": (K.ELEMENTWISE, "nll_loss_backward_reduce_cuda_kernel_2d"),
    "gated units of training libraries": (K.ELEMENTWISE, "_fg_kernel _DWf_DW_dfg_kernel"),
    "what launches any broadcast": (K.ELEMENTWISE, "gpu_broadcast_kernel_linear"),
    "set-up of samplers, generators and grouped products": (
        K.OTHER,
        """
        fastertransformer::set_topp_runtime_args setup_topk_runtime_args topp_initialization_kernel curandInitialize
        curandBatchInitialize prepare_grouped_gemm_data get_group_gemm_starts
        """,
    ),
    "forces, rays, cross sections, solvers, trees": (
        K.OTHER,
        """
        gather_force_kernel gatherForces cast_ray_kernel cast_rays xs_lookup_kernel_baseline identifyTileRanges
        duplicateWithKeys accumulate_render_radiance lud_diagonal forward_sub nvkernel_conj_grad_F1L501_2
        ML::DT::nodeSplitKernel
        """,
    ),
    "parts of attention": (
        K.ATTENTION,
        """
        reduce_segments _decode_att_m_fwd_kernel aiter::pa_ps_fwd deep_gemm::smxx_clean_logits _bwd_kv_kernel
        ms_deformable_im2col_gpu_kernel kernel_batched_gemm_softmax_gemm_xdl_cshuffle_v1 thd_out_correction_kernel
        """,
    ),
    "experts' tables and sums": (
        K.REDUCTION,
        "mm_ids_helper moe_combine combine_moe_outputs_kernel moe_accum moe_gather_sum_k post_reorder_triton_kernel",
    ),
    "scans, sorts, choices": (
        K.REDUCTION,
        """
        brent_kung kogge_stone_block oddEvenMergeGlobal raft::matrix::select_k raft::linalg::stridedSummationKernel cupy_nansum
        """,
    ),
    "second stages of sums by OpenACC": (K.REDUCTION, "main_27_gpu__red update_65_gpu__red compute_energy_88_gpu__red"),
    "copies of experts' rows and caches": (
        K.COPY,
        """
        deepep_permute_triton_kernel fused_moe_permute vllm::gather_and_maybe_dequant_cache _set_k_and_s_triton_kernel
        """,
    ),
    "copies with words of arithmetic": (K.COPY, "cupy_getitem_mask matrixTrans thd_read_half_tensor_kernel trans_qkv"),
    "fused layers, products by other names": (
        K.GEMM,
        """
        MultiplyMatrices coalescedMultiply sharedABMultiply fused_linear_relu quant_linear_w8a32_kernel atax_kernel1
        mvt_kernel1 gesummv_kernel qkv_projection_kernel
        """,
    ),
    "image filters and gradients of weights": (
        K.CONVOLUTION,
        """
        blurKernel imageBlurGaussianKernel sobelEdgeDetection gaussian_filter d_boxfilter_x_global linearRowFilter
        kernel_batched_gemm_xdlops_bwd_weight filterActs_YxX_color
        """,
    ),
    "cuDNN's own copies of CUTLASS": (
        K.CONVOLUTION,
        "cutlass_cudnn_infer::Kernel<cutlass_tensorop_f16> cutlass__5x_cudnn::Kernel<X>",
    ),
    "resizing as ONNX runtime spells it": (K.ELEMENTWISE, "onnxruntime::cuda::_UpampleNearestKernel<float>"),
    "short Fourier transforms": (K.FFT, "stft_kernel"),
}
NAMES = {name: kind for kind, names in FAMILIES.values() for name in names.split()}


@pytest.mark.parametrize("name", NAMES)
def test_families_of_kernels(name: str) -> None:
    assert classify(name) is NAMES[name]


def test_names_whose_unnamed_namespaces_lost_a_bracket() -> None:
    cut = "void unnamed>::CatArrayBatchedCopy<unnamed>::OpaqueType<2>, unsigned int, 4, 64, 64>(T1 *, unnamed>::Data<T1>, int)"
    assert function_name(cut) == "CatArrayBatchedCopy"
    assert classify(cut) is K.COPY
    assert function_name("void a::<unnamed>::b<a::<unnamed>::c<2>, 4>(int)") == "a::b"


@pytest.mark.parametrize(
    ("operator", "name", "kind"),
    [
        (
            "aten::cudnn_convolution",
            "void cudnn::ops::scalePackedTensor_kernel<float, float>(long, float*, float)",
            K.ELEMENTWISE,
        ),
        ("aten::addmm", "void add_bias_kernel<float>(float*)", K.ELEMENTWISE),
        (
            "aten::mse_loss",
            "void vectorized_elementwise_kernel<4, at::native::mse_kernel_cuda(X&)::{lambda()#1}>(int)",
            K.ELEMENTWISE,
        ),
        (
            "aten::_foreach_norm",
            "void multi_tensor_apply_kernel<TensorListMetadata<1>, LpNormFunctor<float, 1> >(int)",
            K.REDUCTION,
        ),
        ("aten::embedding_dense_backward", "void cub::DeviceRadixSortOnesweepKernel<cub::Policy, false>(int*)", K.REDUCTION),
        ("aten::embedding_dense_backward", "void at::native::krn_partial_segment_offset<long>(long*)", K.EMBEDDING),
        ("aten::index_put_", "void cub::DeviceRadixSortOnesweepKernel<cub::Policy, false>(int*)", K.REDUCTION),
        ("aten::cudnn_convolution", "ampere_scudnn_128x64_relu_small_nn_v1", K.CONVOLUTION),
        ("aten::copy_", "void elementwise_kernel<128, 4, gpu_kernel_impl<unknown> >(int)", K.COPY),
    ],
)
def test_a_step_beside_the_work_of_an_operator_is_what_its_name_says(operator: str, name: str, kind: K) -> None:
    assert classify(name, [operator]) is kind
