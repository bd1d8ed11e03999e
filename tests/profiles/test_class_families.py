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
    "hyper-connections, which mix several residual streams": (
        K.ELEMENTWISE,
        "aiter::mhc_post_kernel mhc_pre_big_fuse_with_norm _hc_head_kernel _mhc_reduce_apply_kernel mhc_stream_mix",
    ),
    "of these, products and normalisations": (K.GEMM, "_mhc_pre_gemm_splitk_kernel mhc_pre_gemm_norm mhc_mm_fwd_kernel"),
    "of these, alternating normalisations": (K.NORMALISATION, "mhc_sinkhorn_fwd hc_split_sinkhorn_kernel"),
    "attention of paged, sparse and compressed caches": (
        K.ATTENTION,
        """
        _decode_paged_splitk_kernel prefill_paged_fwd _verify_paged_kernel kv_compressor_fwd compress_kv_kernel
        fp8_index_logits_kernel sparse_index_scores la_persistent_fp8 lean_atten_fwd triton_flex_decoding_2 vsa_bwd
        kda_state_scan attention_with_bias_kernel _fwd_grouped_kernel_stage1_rope chunk_delta_attn_fwd_o
        _fwd_diag_kernel _fwd_kv_reduce seg_la_decode_kernel
        """,
    ),
    "what only prepares or checks attention and products": (
        K.OTHER,
        "swa_slot_mapping_kernel mla_plan_kernel plan_paged_prefill_kernel build_sparse_prefill_kernel problem_sizes_w4a8",
    ),
    "steps beside attention": (
        K.ELEMENTWISE,
        "attn_output_gate_kernel relative_attention_bias create_attention_masks per_token_quant_mla_fp8 qkv_epilogue_kernel",
    ),
    "copies beside attention": (
        K.COPY,
        "set_mla_kv_and_query fused_store_indexer_cache prepare_qkv_kernel split_qkvzba_kernel vsa_tile_pack_kernel",
    ),
    "projections": (
        K.GEMM,
        """
        packed_output_projections latent_input_small_batch q_up_projection_fp8 attn_out_proj_residual_kernel gather_kv_b_proj
        fused_up_proj_swiglu wo_a_partial_kernel gate_up_silu_decode lm_head_argmax_kernel gemv_rope_kernel
        """,
    ),
    "products named by the order of their operands": (
        K.GEMM,
        "kernel_dense_nt kernel_grouped_tn_wgrad kernel_mxfp8_nn kernel_grouped_variable_k kernel_grouped_mxfp8_wgrad",
    ),
    "experts": (
        K.GEMM,
        "shared_expert_gate_up mxfp4_expert_kernel moe_warp_decode_down fp8_warp_decode_kernel routed_experts_fp8",
    ),
    "tables and sums of experts": (
        K.REDUCTION,
        "moe_sorting_oneshot_kernel expert_gather_reduce_kernel w4a16_route_count parallel_ce_fwd recovered_tokens_kernel",
    ),
    "tokens sent to experts": (K.COMMUNICATION, "hybrid_ep::dispatch_kernel moe_send_topk_kernel gin_combine_kernel"),
    "norms among other steps": (
        K.NORMALISATION,
        "qknorm_split_rope_kernel norm_complex_rope_kv fused_residual_norm_kernel _gn_apply_rows_kernel adaln_single_kernel",
    ),
    "gates and positions": (K.ELEMENTWISE, "shared_expert_gate_kernel fused_shared_expert_gate_mul timestep_embed"),
    "caches and streams that are written": (K.COPY, "kv_insert_fp8_kernel insert_kv_pages stream_compaction_kernel"),
    "products and convolutions among other operators": (K.GEMM, "mlir_reshape_transpose_dot fully_connected_tiled"),
    "of these, convolutions": (K.CONVOLUTION, "mlir_transpose_convolution_add patch_embed_kernel"),
    "products emulated by integers": (
        K.ELEMENTWISE,
        "oz2::real::extract_A_kernel oz2::conv_32i_2_8u_kernel ozaki::invscal_kernel oz2::real::scalingB_kernel",
    ),
    "of these, the exponents of rows": (K.REDUCTION, "oz2::compute_sftB_kernel compute_sft_colwise_kernel"),
    "layers with activations whose gradient is called bprop": (K.ELEMENTWISE, "biasAddRelu_fprop Sigmoid_fprop relu_bprop"),
    "steps in time": (K.OTHER, "integrate_functor leapFrogStep rk4_update_kernel verlet_update time_integrator_add"),
    "libraries of random numbers": (K.ELEMENTWISE, "rocrand_impl::host::detail::generate_kernel"),
    "of these, set-up": (K.OTHER, "rocrand_impl::host::detail::init_engines_kernel"),
    "gated delta nets in any form": (K.OTHER, "gdn_decode_kernel_pretranspose gdn_verify_kernel_mtp GdnScan"),
    "old direct convolutions": (K.CONVOLUTION, "MIOpenCvFwd11x11 MIOpenCvBwd11x11"),
    "templates of torch's compiler are products unless they say more": (
        K.GEMM,
        "triton_tem_fused_add_view_4 triton_tem_fused_mul_silu_2",
    ),
    "of these, gradients of flex attention": (K.ATTENTION, "triton_tem_fused_zeros_1 triton_tem_fused_flex_attention_zeros_0"),
    "lists of fused operators that a tool cut": (
        K.NORMALISATION,
        """
        triton_per_fused_..._layer_norm... triton_red_fused_…_softmax_… triton_red_fused_add_mean_mul_pow_rs...
        triton_per_fused_amax_exp_sub_sum_3
        """,
    ),
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
