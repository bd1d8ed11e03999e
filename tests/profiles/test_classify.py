"""Classes of names that real profiles hold."""

import time

import pytest

from expctl.profiles.assemble.classify import classify
from expctl.profiles.model.kernel_profile import KernelClass as K
from expctl.profiles.views.short_names import short_names

NAMES = {
    "Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI16x16x16x1_SN": K.GEMM,
    "_ZN7ck_tile10gemm_universalE": K.GEMM,
    "nvjet_sm90_hsh_256x128_64x4_1x2_h_bz_coopA_NNT": K.GEMM,
    "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x64_32x4_tn_align8>(int)": K.GEMM,
    "void mul_mat_vec_q<(ggml_type)12, 1, true>(void const*)": K.GEMM,
    "scaled_mm_kernel": K.GEMM,
    "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64> >(int)": K.ATTENTION,
    "_attn_fwd": K.ATTENTION,
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)": K.COMMUNICATION,
    "void rms_norm_f32<1024, true, false>(float const*, float*)": K.NORMALISATION,
    "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>(int)": K.NORMALISATION,
    "void (anonymous namespace)::softmax_warp_forward<float, float, float, 9, false, false>(float*)": K.NORMALISATION,
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<double> >(int)": K.REDUCTION,
    "triton_red_fused_sum_3": K.REDUCTION,
    "__amd_rocclr_copyBuffer": K.COPY,
    "__amd_rocclr_fillBufferAligned": K.COPY,
    "triton_poi_fused__to_copy_0": K.COPY,
    "void at::native::vectorized_elementwise_kernel<8, at::native::FillFunctor<c10::BFloat16>, X>(int)": K.COPY,
    "void at::native::elementwise_kernel<128, 2, at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)>(int)": K.COPY,
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >(int)": K.ELEMENTWISE,
    "void at::<unnamed>::distribution_elementwise_grid_stride_kernel<float, 4, void templates::normal>(int)": K.ELEMENTWISE,
    "triton_poi_fused_mul_silu_1": K.ELEMENTWISE,
    "void rope_norm<true, false, float, float>(float const*)": K.ELEMENTWISE,
    "void vllm::cross_device_reduce_1stage<__hip_bfloat16, 8>(vllm::RankData*)": K.COMMUNICATION,
    "void wvSplitK_hf_sml_<__hip_bfloat16, 64, 2, 16, 8, 2, 1>(int)": K.GEMM,
    "fused_moe_kernel": K.GEMM,
    "miopenSp3AsmConv_v30_3_1_gfx9_fp32_f2x3_stride1": K.CONVOLUTION,
    "void vllm::dynamic_per_token_scaled_fp8_quant_kernel<c10::BFloat16>(void*)": K.ELEMENTWISE,
    "void concat_cont<unsigned int, 1>(unsigned int const*)": K.COPY,
    "std::enable_if<!(false), void>::type rocprim::detail::reduce_kernel<gather_iterator<int> >(int)": K.REDUCTION,
    "batched_matrix_multiplication_kernel": K.GEMM,
    "bmm_e4m3_e4m3_fp32_t128x128x128": K.GEMM,
    "sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x64x32": K.CONVOLUTION,
    "void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true>(cudnn::ops::nchw2nhwc_params_t<float>)": K.COPY,
    "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, 512, true, 1, true>(int)": K.NORMALISATION,
    "void fbgemm_gpu::permute_2D_data_kernel<false, int, long, float>(int)": K.COPY,
    "triton_red_fused__to_copy_sum_4": K.REDUCTION,
    "triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_3": K.NORMALISATION,
    "triton_poi_fused__to_copy_add_mul_1": K.ELEMENTWISE,
    "sage_fwd": K.ATTENTION,
    "void regular_fft<512u, EPT<8u>, 64u>(int)": K.FFT,
    "void split_embedding_codegen_forward_unweighted_kernel<float>(int)": K.EMBEDDING,
    "_ZN7ck_tile6kentryILi2ENS_13FmhaFwdKernelINS_": K.ATTENTION,
    "mfma_moe1_silu_mul_afp4_wfp4_fp4_t32x128x256": K.GEMM,
    "__myl_Fc_0x0695934e": K.GEMM,
    "__myl_MulCastErfCastAddMulMulMulCast": K.ELEMENTWISE,
    "topkGatingSoftmax": K.REDUCTION,
    "chunk_fwd_kernel_o.kd": K.ATTENTION,
    "chunk_scaled_dot_kkt_fwd_kernel.kd": K.ATTENTION,
    "gdn_ar_w.kd": K.ATTENTION,
    "gdn_conv_t2.kd": K.CONVOLUTION,
    "fused_gdn_gating_kernel.kd": K.ELEMENTWISE,
    "_temperature_kernel": K.ELEMENTWISE,
    "rmsq.kd": K.NORMALISATION,
    "void gsplat::projection_ewa_3dgs_packed_fwd_kernel<float>(unsigned int)": K.OTHER,
    "void at::native::indexFuncLargeIndex<c10::BFloat16, long, unsigned int, 2, 2, -2, true, ReduceAdd>(int)": K.COPY,
    "void hip_rocprim::__parallel_for::kernel<256u, hip_rocprim::__uninitialized_fill::functor<int> >(int)": K.COPY,
    "void at::native::unrolled_elementwise_kernel<CUDAFunctor_add<float>, memory::LoadWithCast<2> >(int)": K.ELEMENTWISE,
    "void at::native::_scatter_gather_elementwise_kernel<128, 8, TensorAssign>(int)": K.COPY,
    "void at::native::elementwise_kernel<128, 4, gpu_kernel_impl<masked_fill_kernel(TensorIterator&)> >(int)": K.ELEMENTWISE,
    "void multi_tensor_apply_kernel<TensorListMetadata<1>, LpNormFunctor<float, 1, float> >(int)": K.REDUCTION,
    "void at::native::tensor_kernel_scan_innermost_dim<long, std::plus<long> >(long*)": K.REDUCTION,
    "void cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnFwdSm90<cutlass::gemm::Foo> > >(T1::Params)": K.ATTENTION,
    "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<Shape, CollectiveEpilogue<SiLu> > >(Params)": K.GEMM,
    "void cutlass::device_kernel<cutlass::conv::kernel::ConvUniversal<cutlass::gemm::Foo> >(Params)": K.CONVOLUTION,
    "void ck_tile::kentry<1, ck_tile::Rmsnorm2dFwd<ck_tile::Pipe> >(int)": K.NORMALISATION,
    "void ck_tile::kentry<1, ck_tile::MoeSortingKernel<ck_tile::Foo> >(int)": K.REDUCTION,
    "void flash::prepare_varlen_num_blocks_kernel<true>(int)": K.ATTENTION,
    "void deep_ep::internode_ll::dispatch<true>(int)": K.COMMUNICATION,
    "void dot_kernel<float, 128, 0, cublasDotParams<cublasGemvTensor<float const> > >(float)": K.REDUCTION,
    "void cublasLt::splitKreduce_kernel<32, 16, int, float>(cublasSplitKParams<float>)": K.GEMM,
    "std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, float, cublasGemvParamsEx>(cublas)": K.GEMM,
    "void cusparse::csrmv_v3_kernel<int, int, double>(int)": K.GEMM,
    "volta_scudnn_128x64_relu_interior_nn_v1": K.CONVOLUTION,
    "trt_turing_h1688cudnn_256x64_ldg8_relu_exp_small_nhwc_tn_v1": K.CONVOLUTION,
    "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_6_128x128x128": K.ATTENTION,
    "void DoCUDAReflectionPad1dGrad<float>(int)": K.COPY,
    "triton_tem_fused_addmm_5": K.GEMM,
    "triton_tem_fused_flex_attention_3": K.ATTENTION,
    "triton_tem_fused_convolution_2": K.CONVOLUTION,
    "triton_poi_fused_addmm_relu_2": K.ELEMENTWISE,
    "triton_red_fused__to_copy_abs_clamp_max_mul_reciprocal_1": K.ELEMENTWISE,
    "triton_poi_fused_max_pool2d_with_indices_5": K.REDUCTION,
    "__myl_MaxSubExpSumDiv_0x12": K.NORMALISATION,
    "__myl_TranReshCast": K.COPY,
    "input_reduce_fusion_4": K.REDUCTION,
    "loop_convert_fusion": K.COPY,
    "_bmm_chunk_fwd_kernel": K.GEMM,
    "_gemma4_routing_kernel": K.REDUCTION,
    "merge_16x16_to_64x64_inverse_kernel": K.ATTENTION,
    "_fwd_kernel": K.ATTENTION,
    "fusedQKNormRopeKernel": K.NORMALISATION,
    "fused_qk_rope_concat_and_cache_mla_kernel": K.ELEMENTWISE,
    "void tensorrt_llm::kernels::finalizeMoeRoutingKernel<float>(int)": K.REDUCTION,
    "awq_marlin_repack_kernel": K.COPY,
    "void marlin::Marlin<256, 1, 8, 8, 4, 8>(int4 const*)": K.GEMM,
    "kQuantizeBlockwise": K.ELEMENTWISE,
    "fft_rtc_fwd_len1024_factors_8_8_16_wgs_128_sp_ip_CI": K.FFT,
    "causal_conv1d_split_qkv_kernel": K.CONVOLUTION,
    "parallel_deltaformer_fwd_kernel": K.ATTENTION,
    "SubTensorOpWithCastTensor1d": K.COPY,
    "monte_carlo_kernel(float *, curandStateXORWOW *, int, int)": K.OTHER,
    "void Kokkos::Impl::cuda_parallel_launch_local_memory<ParallelFor<LAMMPS_NS::PairLJCutKokkos> >(int)": K.OTHER,
    "selective_state_update_kernel_simple": K.OTHER,
    "my_solver_step": K.OTHER,
    "": K.OTHER,
}


@pytest.mark.parametrize("name", NAMES)
def test_classes(name: str) -> None:
    assert classify(name) is NAMES[name]


@pytest.mark.parametrize(
    "name", ["x" * 200_000, "a1" * 100_000, "conv_" * 40_000, "Cijk_" * 40_000, "index_" * 40_000, "decode " * 30_000]
)
def test_a_name_of_any_length_takes_no_time(name: str) -> None:
    started = time.process_time()
    classify(name)
    short_names([name, f"{name}x"])
    assert time.process_time() - started < 2.0
