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
