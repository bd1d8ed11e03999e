"""Rules on kernel names that hold for any program: changes of form, expressions, last words, words of several meanings."""

import pytest

from expctl.profiles.assemble.classify import classify
from expctl.profiles.assemble.word_rules import FORMATS, LAYOUTS, NARROW_TYPES, WIDE_TYPES, changes
from expctl.profiles.model.kernel_profile import KernelClass as K

EIGEN = "void Eigen::internal::EigenMetaKernel<Eigen::TensorEvaluator<Eigen::TensorAssignOp<{}> > >(float)"
BY_CLASS = {
    K.GEMM: """
        sm90_xmma_herkx_gaussian_u_cf64cf64_f64f64_cf64_cn_n_tilesize32x32x32 Rank2KComplex afq_qmv_6bit_kernel
        SplitK_Reduction kernel_mul_mat_f16_f32_l4_x8_gqa4 RNN_blockPersist_fp_LSTM dense_kernel0
        w8_linear_swiglu_decode_pair_kernel moe_down_sum6_qwarp32_kernel indexed_moe_forward_q8_0_q8_1 cscmv_beta
    """,
    K.CONVOLUTION: "winoTransSrcBuf2_3_1 _conv2d_3x3_cblocked_kernel",
    K.ATTENTION: """
        chunk_dplr_fwd_A_kernel_intra_sub_intra _dense_neighborhood_grad_v_kernel _sage_fwd_mask mla_decode_combine_kernel
        flash_attn_softmax_fwd_kernel qk_softmax_v_kernel
    """,
    K.COMMUNICATION: "pp_send_impl all2all_v2 clean_low_latency_buffer gloo_reduce",
    K.NORMALISATION: """
        skiplnDQQ fused_residual_ln ker_residual_bias_ln_i32I renorm_kernel ker_attn_softmax_lt32 attn_softmax_v2
        longformerMHASoftmaxKernel k_rms_heads_rms_rope bn_stats_kernel
    """,
    K.REDUCTION: """
        backward_bias_kernel matmul_backward_bias_kernel_naive ShuffleBlockReduceMin KNearestNeighborKernelV1
        izamax_kernel_batched sparse_mixer_top2 xlange_inf_kernel varsPartitionKernelColMajor _COOGetRowNNZKernel
        bmt_has_nan_inf_bf16 InitTileStateKernel MaxPoolWithIndexKernel computeQuantilesBatchedKernel
        exclusive_scan_for_kernel_quantified mha_v4_per_tensor_amax_kernel r_32_4_16 wrapped_reduce select_and_scatter_fusion
        fused_sumexp_bf16
    """,
    K.EMBEDDING: "_select_rows LookupKernel",
    K.COPY: """
        csr2dense coo2Dense gebsr2csr_large_core triton_jagged_to_dense PackedToPaddedKernel nchwToNhwcKernel
        f32_to_bf16_kernel claswp_kernel dlaset_full_kernel memSetK SubTensorOpWithSubTensor3d transpose_attentions
        kernel_reshape_forward shift_partition_v2 extract_diagonal tile_2d_kernel cudaD2DcpyConvert wrapped_iota
        fused_layout_transform_kernel concat_and_cast_mha_k_kernel _paged_kv_update cswap_kernel_batched
    """,
    K.ELEMENTWISE: """
        fp16_to_fp8_kernel fp82float_kernel RmsPropUpdateGpu mmvq_gguf_quantize_q8_1_f32 addBiasAttentionFfnResidual
        dequantize_gemm_output_kernel sparseArithCSR2 Bayer2BGR_16u leftshift_kernel apply_alibi gt_func_scalar
        multiplication_kernel penalize_previous_tokens_kernel _get_neox_rotated_x mha_v4_per_tensor_quant_kernel
        deq_q6k_kernel wrapped_select shampoo_step_batched mdiv_floordiv_kernel fast_hadamard_transform_kernel
    """,
    K.OTHER: """
        mamba3_siso_step_kernel pmegrid_to_fftgrid binaryDistanceAnySize transformPotentialToCartesianCoordinates
        getrf_square_cta dlaed4_seq_k_le_2 _kernel_agent_vshmem rngSetupStates orthonormalize_subspace getReconvNumSaved
        SplitTreeStructureKernel quantum_gate_loop quat_from_axis_angle_fwd_kernel zdisplace_pointers_var_cc_kernel
    """,
}
NAMES = {name: kind for kind, names in BY_CLASS.items() for name in names.split()} | {
    EIGEN.format("TensorSlicingOp<X>, TensorCwiseBinaryOp<scalar_product_op<X>, scalar_constant_op<X>>"): K.ELEMENTWISE,
    EIGEN.format("TensorMap<X>, TensorCwiseBinaryOp<scalar_sum_op<X>, TensorReductionOp<SumReducer<X>>>"): K.ELEMENTWISE,
    EIGEN.format("TensorChippingOp<X>, TensorReductionOp<MaxReducer<X>, TensorCwiseUnaryOp<X>>"): K.REDUCTION,
    EIGEN.format("TensorStridingSlicingOp<X>, TensorMap<X>"): K.COPY,
    "void onnxruntime::cuda::_UnaryElementWise<double, char, OP_SaturatingCastFromDouble<char>, 256, 4>(int)": K.COPY,
    "void cuTopkLayer::stage1<float>(int)": K.REDUCTION,
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_names_of_many_programs(name: str) -> None:
    assert classify(name) is NAMES[name]


def test_any_change_of_layout_format_or_type_is_a_copy_unless_it_scales() -> None:
    plain = " ".join((changes(LAYOUTS), changes(FORMATS), changes(WIDE_TYPES)))
    assert {classify(f"{word}_kernel") for word in plain.split()} == {K.COPY}
    assert {classify(f"{word}_kernel") for word in changes(WIDE_TYPES, NARROW_TYPES).split()} == {K.ELEMENTWISE}


PRIM = "void rocprim::ROCPRIM_400200_NS::detail::trampoline_kernel<rocprim::detail::wrapped_{}_config<X>, {}>(int)"
REASONS = {
    "set-up for heavy work is none": (
        K.OTHER,
        """
        compute_gemm_pointers compute_sm90_group_gemm_args set_grouped_gemm_args_kernel swa_page_indices_kernel
        get_mla_metadata_kernel gemm_vbatched_checker build_mha_page_table_kernel
        """,
    ),
    "words written together with what they work on": (K.ELEMENTWISE, "arrayadd matrixsub vecexp arrayabs"),
    "of these, reductions": (K.REDUCTION, "arraydot vectorsums"),
    "a part is no difference": (K.OTHER, "merge_frames_subarray submatrix_walk"),
    "BLAS with the letter of its type": (K.GEMM, "magma_zgeru_1 magma_ztrmv_kernel zsymv_kernel_L"),
    "of these, sums": (K.REDUCTION, "magma_zdot_kernel magmablas_dznrm2_kernel"),
    "first values of arrays": (K.COPY, "initWith init_array initialize_matrix resetArray initGPUData_ker initialize_variables"),
    "norms with a scale or a gate": (K.NORMALISATION, "norm_scale_shift_kernel norm_silu"),
    "physics written together, or beside words of products": (
        K.OTHER,
        "boundaryflux_LinearEuler2D_kernel spin_flip SamplePBRMaterialKernel gpu_stencil37_slices",
    ),
    "images": (K.ELEMENTWISE, "gammaCorrection warpaffine_kernel letterbox_kernel im2gray"),
    "packed for a neighbour": (K.COPY, "packSendBuf pack_send_buf HaloPack_2D"),
    "gradients of losses, as of their names": (K.ELEMENTWISE, "mse_loss_grad binaryCrossEntropyGrad"),
    "words of two meanings": (
        K.OTHER,
        """
        step_kernel_mod quantitative_score_kernel getReducedGridKernel updateSphereShiftsWithAxisMove splitNodes
        sampleBounceDirectionsKernel pyrDown _LinearSearchKernel triangle_count calc_z_column_index_kernel
        SphericalFracDetection
        """,
    ),
    "products of programs by hand": (
        K.GEMM,
        "matproductsharedmemory mmult qkvKernel4 k_mat_nn forward_layer_kernel maskedmm_forward",
    ),
    "sums in parts": (
        K.REDUCTION,
        "reduceShuffle moe_weighted_acc weighted_groupbitsum_kernel minMaxLoc_pass_1 mergeSortedBlocks",
    ),
    "scans over a state": (
        K.OTHER,
        """
        gdn_ar_w gdn_chunkwise_tinv_f32 chunk_gated_delta_rule_fwd_kernel_h_blockdim64 fused_recurrent_fwd_kernel rwkv_wkv_f32
        gdn_chunk_fwd selective_scan_fwd_kernel
        """,
    ),
    "linear attention that says so, or works by chunks for any model": (
        K.ATTENTION,
        "fused_recurrent_kda_fwd_kernel fused_recurrent_gla_fwd_kernel chunk_fwd_kernel_o linear_attention_decode",
    ),
    "steps of such models": (K.ELEMENTWISE, "fused_gdn_gating rwkv_channel_mixing_pow_and_relu"),
    "what comes after or before heavy work": (K.OTHER, "GdnPostConvK post_conv_state_update"),
    "what ends a product by itself": (K.ELEMENTWISE, "quant_linear_epilogue gemm_epilogue"),
    "products that end with more": (K.GEMM, "gemm_with_epilogue_kernel gemm_epilogue_fused_kernel"),
    "loops named by their function and line": (K.OTHER, "global_div3_169_gpu sub_55_gpu mul_div_101_gpu nvkernel_add_F1L5_4"),
    "of these, arithmetic that says what on": (K.ELEMENTWISE, "vecadd_12_gpu vec_add_33_gpu saxpy_44_gpu"),
    "instructions in layers, which have a direction": (K.OTHER, "sol_mma_fwd_x4f wmma_forward"),
    "instructions alone, names cut short": (K.GEMM, "mma_kernel_m16n8k16 ampere_bf16 turing_fp16"),
    "words that count only as what a kernel does": (
        K.OTHER,
        """
        compute_tile_keys_kernel decode_tile_pixels PinholeSplitFixedFocalScoreKernel compute_costs_full_kernel NLM2diag
        bitpack_finalize checkSingleVarSubg _verify_prefix_stage1 extractSegmentKernel uniform_octree cuda_kernel_texture_cube
        """,
    ),
    "of these, copies": (K.COPY, "tile_kernel fused_split_rows cupy_take kernel_get_diagonal_strided diag_kernel"),
    "parts of a grid, divergence, sources, census": (
        K.OTHER,
        """
        getSubMIndicePairsKernel subgrid_update div_u_kernel compute_add_sources_kernel census_transform_kernel resample_by_mat
        linear_regression shiftPitchLinear invert_mapping set_kernel_args bfs_expand
        """,
    ),
    "steps of sorts, values that are not zero": (
        K.REDUCTION,
        "counting_sort_scatter_kernel nonZerosPerRowKernel reduced_blocks",
    ),
    "the number behind fused operators": (K.COPY, "triton_poi_fused_clone_1_0d1d2 triton_poi_fused_cat_3_0d1d2d3de"),
    "scattered into sums": (K.REDUCTION, "scatter_mean_kernel token_gather_weighted_sum_kernel"),
}


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in REASONS.values() for name in names.split()])
def test_reasons(kind: K, name: str) -> None:
    assert classify(name) is kind


def test_a_function_that_is_in_no_namespace_has_one_name() -> None:
    """What follows it in a mangled name are its template arguments and parameters."""
    assert classify("_Z22partial_mapreduce_grid8identity2__E7Float3216CartesianIndicesILi2EE") is K.REDUCTION
    assert classify("_Z9step_once12GemmSettings") is K.OTHER
    assert classify("_ZN2at6native13reduce_kernelILi512EE") is K.REDUCTION
    assert classify("_ZTSZZ4mainENKUlRN4sycl3_V17handlerEE_clES2_E7vec_add") is K.ELEMENTWISE


@pytest.mark.parametrize(
    ("algorithm", "function", "kind"),
    [
        ("reduce", "detail::reduce_impl<convert_binary_result_type_wrapper<X>>", K.REDUCTION),
        ("radix_sort_block_sort", "identity_decomposer", K.REDUCTION),
        ("partition", "NonZeroOp<bool>", K.REDUCTION),
        ("transform", "rocprim::ROCPRIM_400200_NS::identity<void>", K.COPY),
        ("transform", "AddOp<float>", K.ELEMENTWISE),
    ],
)
def test_rocprim_names_all_kernels_alike_and_the_algorithm_in_its_settings(algorithm: str, function: str, kind: K) -> None:
    assert classify(PRIM.format(algorithm, function)) is kind
