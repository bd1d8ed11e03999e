"""The vocabulary of kernel names: which words belong to which class, in the order in which they decide.

A word is written as it is read: `all_reduce` stands for `AllReduce`, `all_reduce` and `allreduce` alike. `parts` are regular
expressions, with spaces between them, that are looked for inside one word, because some names are written together (`vecadd`,
`hgemmtn`). The first rule that finds anything in a name decides. So a specific kind of work stands before what is a part of
others: an attention kernel multiplies, normalises, reduces and copies as well.
"""

from expctl.profiles.assemble.word_rules import FORMATS, LAYOUTS, NARROW_TYPES, WIDE_TYPES, Rule, changes, pairs
from expctl.profiles.model.kernel_profile import KernelClass as K

RULES: tuple[Rule, ...] = (
    Rule(
        K.OTHER,
        """
        topp_initialization init_rng rng_init init_curand curand_init setup_curand curand_setup setup_rng setup_rand rng_setup
        init_states init_rand rand_init random_states random_walk setup_states curand_states initialize_curand random_init
        empty_kernel gcn_conv gat_conv sage_conv gin_conv graph_conv nbnxm nbnxn padding_offset padding_offsets dslash clover
        stop_words stop_criterion stop_criteria length_criterion reciprocal_convolution runtime_args curand_initialize
        curand_batch conj_grad conjugate_gradient gather_force gather_forces cast_ray cast_rays ray_cast xs_lookup lookup_xs
        tile_ranges duplicate_with_keys prepare_grouped_gemm prepare_group_gemm gemm_starts lud forward_sub backward_sub
        compute_split node_split mean_shift stencil hough wavelet sub_cycle kernel_args rasterize rasterization bfs sssp
        pagerank cubature pyr_down level_down step_down linear_search problem_sizes gdn_decode gdn_fused gdn_recurrent
        gdn_verify gdn_scan mamba_scan rwkv_scan init_engines
        """,
        "^pme",
    ),
    Rule(
        K.COPY,
        """
        mat_transpose mat_trans layout_transform concat_and_cast mem_set copy_image tensor_transform transform_tensor concat_mla
        deep_ep_permute kv_buffer kv_indices kv_indptr transform4d sub_tensor_op_with_cast sub_tensor_op_with_sub
        sub_tensor_op_with_transform mla_copy transpose_attn transpose_attention transpose_attentions store_mla store_flashmla
        pack_send unpack_recv halo_pack pack_halo halo_unpack unpack_halo send_buf recv_buf send_buffer recv_buffer to_nchw
        to_nhwc to_ncdhw to_ndhwc ncqhw nchw_to nhwc_to ncdhw_to ndhwc_to col_2_row_major row_2_col_major set_mla_kv
        store_indexer prepare_qkv
        """
        + changes(LAYOUTS)
        + changes(FORMATS),
        r"cpy memset (?:copy|fill)buffer",
    ),
    Rule(K.ELEMENTWISE, "rope_norm rotary_norm"),
    Rule(
        K.NORMALISATION,
        """
        rms_rope norm_rope qknorm_rope qnorm_rope norm_mrope norm_rotary norm_and_rope rmsnorm_rope norm_split_rope
        qknorm_split_rope norm_complex_rope qknorm_complex_rope
        """,
    ),
    Rule(K.GEMM, "bmm_rope gemm_rope gemv_rope matmul_rope linear_rope proj_rope projection_rope gather_kv_b"),
    Rule(K.ATTENTION, "fwd_grouped_kernel grouped_kernel_stage fwd_kernel_stage mla_decode_rope decode_rope_fwd"),
    Rule(
        K.ELEMENTWISE,
        "rope rotate_half kn_entry neox timestep_embedding timestep_embed positional_encoding sinusoidal",
        r"rotary ^rope rope$",
    ),
    Rule(
        K.COPY,
        """
        copy_buffer fill_buffer reshape_and_cache concat_and_cache cat_and_cache set_rows append_kv kv_append append_paged_kv
        write_kv store_kv update_kv_cache kv_cache_update kv_update copy_kv_cache copy_blocks swap_blocks gather_cache cp_gather
        kv_scatter cache_scatter cache_write write_cache kv_cache_copy copy_cache kv_copy kv_trans reshape_cache fill_kv_cache
        flatten_kv destindex_copy_kv insert_k_cache gather_kv move_kv token_pool cache_loc cache_locs write_req kv_transfer
        transfer_kv save_kv load_kv pack_kv unpack_kv process_kv reindex_kv_cache maybe_dequant_cache k_and_s
        kv_insert insert_kv
        """,
    ),
    Rule(K.REDUCTION, "block_all_reduce warp_all_reduce k_nearest knn graph_send moe_sort moe_sorting"),
    Rule(
        K.COMMUNICATION,
        """
        comm a2a all_reduce all_gather reduce_scatter all_to_all all_2_all send_recv one_shot two_shot 1shot 2shot cross_device
        quick_reduce deep_ep multimem nvls symm_mem lamport custom_ar barrier_all notify_dispatch cached_notify ring_exchange
        halo_exchange push_pull_halos p2p_copy peer_to_peer p2p_send p2p_recv nvl_barrier low_latency gloo ep_dispatch
        ep_combine ipc_push rsag ulysses broadcast_ll pg_broadcast remote_push nvlink_copy intranode internode ggml_ar
        ggml_cuda_ar ggml_hip_ar hybrid_ep gin_dispatch gin_combine moe_send moe_recv
        """,
        r"nccl rccl msccl (?:nv|roc|open)shmem allreduce allgather reducescatter alltoall userbuffers",
    ),
    Rule(
        K.GEMM,
        "bmm_chunk_fwd bmm_chunk_bwd moe_gate_up moe_down mul_mat"
        + pairs("attn attention mla kda gdn", "proj projection out_proj o_proj output_proj output_projection qkv_proj")
        + pairs("dense grouped grouped_fp8 grouped_mxfp8 grouped_mxfp4 grouped_bf16", "nn nt tn tt wgrad"),
    ),
    Rule(K.ELEMENTWISE, "quant_attn quant_mla attention_residual ffn_residual relu_fprop sigmoid_fprop add_fprop"),
    Rule(K.ATTENTION, "delta_attn delta_attention"),
    Rule(
        K.OTHER,
        """
        selective_scan chunk_scan ssm_scan delta_rule delta_net gated_delta chunk_delta delta_h gdn_chunk chunk_gdn gdn_fwd
        gdn_bwd gdr wkv chunk_rwkv chunk_mesa
        """,
    ),
    Rule(
        K.ATTENTION,
        """
        mqa gqa mla sdpa flash split_kv paged_kv kkt chunk_fwd chunk_bwd fused_chunk recurrent_gla recurrent_kda recurrent_gsa
        recurrent_linear_attn wy_repr recompute_w_u solve_tril merge_16x16 fwd_kernel_split_k chunk_gla chunk_kda gla_fwd
        gla_bwd kda_fwd kda_bwd gsa_fwd lightning fwd_kernel_stage fwd_grouped_kernel grouped_kernel_stage decode_grouped
        fwd_kernel_alibi bwd_kernel_dq bwd_kernel_dkv bwd_kernel_split bwd_kernel_fused bwd_dq bwd_dkv dkdv dkdvdq dqkv
        pa_prefill pa_decode pa_fwd pa_bf pa_fp merge_state merge_states lse_combine combine_lse fwd_combine qk_softmax_v
        prefill_with_ragged_kv_cache with_kv_cache qk_dot dsa_indexer indexer_logits fp8_index context_prefill extend_prefill
        chunk_scaled_dot parallel_nsa nsa_fwd nsa_bwd chunk_transform_qk hstu sage_fwd sage_bwd token_att pa_metadata
        paged_decode paged_prefill sparse_decode sparse_prefill ragged_prefill batch_decode batch_prefill single_decode
        single_prefill natten na1d na2d na3d neighborhood decode_stage prefill_stage context_fwd prefill_fwd decode_fwd dot_do_o
        bwd_preprocess intra_chunk inter_chunk chunk_local_h reduce_segments decode_att decode_merge prefill_merge pa_ps
        pa_reduce clean_logits ms_deformable softmax_gemm thd_out thd_lse thd_grad la_persistent pod_persistent lean_atten
        index_logits fwd_diag fwd_none_diag bwd_diag fwd_kv_parallel fwd_kv_reduce bwd_kv_parallel seg_la decode_paged
        prefill_paged verify_paged paged_verify flex_decoding kda_state kda_scan kda_decode
        kda_prefill kda_recurrent
        """,
        r"attention flash(?:attn|fwd|bwd|decode|mla|kda) attn fmha splitkv pagedkv xqa ^attend ^l?mha$",
    ),
    Rule(K.OTHER, "selective_state fused_recurrent recurrent_fwd recurrent_bwd"),
    Rule(
        K.FFT,
        """
        sp_radix dp_radix hp_radix twiddle twiddles r2c c2r chirp transpose_rtc loadstore_modifier real_complex sp_vector
        dp_vector sp_real dp_real real_post real_pre stft istft dft idft radix_2 radix_3 radix_4 radix_5 radix_8 radix_16
        """,
        r"fft ^[sdh]pradix bluestein stockham",
    ),
    Rule(K.ELEMENTWISE, "conv_32i conv_64i conv_hi"),
    Rule(
        K.CONVOLUTION,
        """
        fprop dgrad wgrad wrw igemm_fwd igemm_bwd igemm_gtc implicit_gemm col2im im2col im3d2col vol2col col2vol vol2im row2col
        col2row mlir_gen_igemm upfirdn im2d2col octree2col compute_offsets_kernel precompute_indices compute_b_offsets
        compute_a_offsets cudnn_cnn xdlops_bwd_weight row_filter column_filter filter_acts img_acts weight_acts mi_open_cv
        patch_embed patch_embedding
        """,
        r"^wino ^(?!un|re)\w*conv(?!er|ex|ec|o$) winograd depthwise im2col col2im ^[a-z]cudnn",
    ),
    Rule(
        K.COPY,
        """
        interleave moe_permute moe_unpermute transform_weights pack_weights permute_weights shuffle_weights preshuffle_weights
        rearrange_kn_weight make_sequential fp8_preprocess to_padded
        """,
        r"repack",
    ),
    Rule(
        K.ELEMENTWISE,
        """
        sum_arrays arrays_sum scale_copy sum_matrix_on grayscale greyscale rgb_to yuv_to nv12_to sample_uniform sample_normal
        sample_gamma sample_exponential quantize_mmq gguf_quantize
        quantize_int4_mmq quantize_int8_mmq mmq_quant quant_mmq gemm_output scale_and_cast cast_fp8
        fp8_cast cast_mxfp8 cast_nvfp4 rms_prop diag_mask nearest_neighbor grid_sample grid_sampler bilinear_sampler
        bilinear_sampling resample_kernel resample_image image_resample zero_point silu_mul_quant silu_mul_fp8 silu_mul_bf16
        silu_and_mul act_and_mul gelu_and_mul dequant_marlin reconstruct_kernel reconstruct_gptq reconstruct_exllama
        act_quant kdequant_mm
        activation_quant cvt_color image_normalization image_normalize normalize_image normalize_images normalize_img
        normalize_imgs convert_offset nll_loss_backward loss_grad loss_gradient loss_derivative entropy_grad mse_loss_backward
        box_muller quasirandom generate_gaussian generate_normal gaussian_noise hamming hanning qkv_epilogue process_qkv
        """,
    ),
    Rule(
        K.REDUCTION,
        """
        moe_fused_gate moe_gate fused_gate_topk moe_align moe_combine combine_moe combine_expert combine_experts moe_accum
        mm_ids gather_sum post_reorder moe_sort moe_sorting moe_routing moe_topk moe_gating experts_gating expert_sort
        count_expert expert_count moe_sum moe_weighted moe_acc moe_epilogue moe_reduce routing_indices expert_offsets
        blockscale_offsets moe_aux_loss noaux_tc align_block_size first_token_offset expert_map expt bitmatrix backward_bias
        bias_backward grad_bias row_id_map top_1_gating top_2_gating multi_tensor_l2norm scatter_reduce scatter_sum scatter_mean
        scatter_max scatter_min weighted_sum gather_reduce route_count route_prefix route_scan
        """,
    ),
    Rule(
        K.GEMM,
        """
        tensile mm bmm addmm baddbmm sbmm smm mv addmv bmv wv_split wvsplitkq skinny marlin machete fused_moe fused_experts
        moe_mlp fused_mlp mlp_fused ffn_fused moe_stage1 moe_stage2 moe1 moe2 fmoe fc qlinear quantized_linear w4a16 w4a8 w8a8
        w8a16 a16w16 a16w4 a16w8 a8w8 a8w4 a4w4 mmul mmvq mmq mmvf mat_mul mat_vec vec_mat mat_mult matrix_mul matrix_mult
        mult_square mul_square multiply_square
        matrix_multiply matrix_multiplication matrix_vector matrix_product split_k_reduce split_k_reduction reduce_split_k
        mat_nn mat_nt mat_tn stream_k batched_dot dot_general mlir_dot quant_dot nn_dense syr2k her2k rank_2_k quant_linear
        linear_relu linear_gelu linear_silu linear_bias qkv_projection output_projection out_projection multiply_matrix
        multiply_matrices mul_matrix mul_matrices mult_matrix csr_multiply csr_mult coalesced_multiply simple_multiply
        ab_multiply atax mvt gesummv gemver qmv qmm qvm 8_linear 4_linear tbmv tpmv tbsv tpsv trsv block_persist rnn_persist
        hemm symm_kernel trmm trmv symv trsm gbmv sbmv ger bgmv sgmv lora_shrink lora_expand lora_a lora_b gptq bitlinear
        outer_product out_prod kron mttkrp mmult mxm mxv persist_rnn contraction gett einsum wv_splitk llmm_1 llgemm mm_norm
        fully_connected
        up_proj_swiglu gate_up_silu gate_up_swiglu gate_up_gelu gate_up_act lm_head_argmax variable_k mhc_fused_split
        """
        + pairs("mhc hc mhc_post", "pre_split pre_mix_gemm mm"),
        r"""
        gemm(?!a) gemv gemt matmul mulmat matvec matprod matrixmul nvjet ^cijk spmv spmm sddmm flatmm ^t?gmm$ hemv
        (?:masked|tiled|naive|shared|blocked|batched)mm$ (?:sy|he)rkx?$ (?:csr|csc|coo|bsr|ell|hyb)r?x?m[mv]
        ^[sdczh](?:sym[mv]|trm[mv]|trs[mv]|gbmv|sbmv|ger[uc]?)$
        """,
    ),
    Rule(
        K.OTHER,
        "",
        r"""
        ^[sdcz]?(?:getr[fsi]|getf2|potr[fsi]|potf2|sytr[dfs]|sytd2|sygv|syev|hetrd|gesv|geqr|gelq|gebr?d|labrd|latrd|larf|orgqr|ormqr)
        ^[sdcz]?(?:stedc|steqr|laed|trtri|trti2)|^(?:csr|bsr)(?:ilu|ic)
        """,
    ),
    Rule(
        K.REDUCTION,
        """
        aten_norm nnz l1_norm one_norm reduce_tensor global_norm onesweep bias_grad calc_bias_diff xent segment_csr segment_coo
        partition_agent kth_value kth_values gather_median adaptive_average bucketize device_rle device_segment_fixup merge_sort
        device_select device_compact device_partition lookback_scan top_k top_p min_p arg_sort amax abs_max asum gumbel
        cross_entropy loss sampling sampler multinomial sample_token rejection_sample greedy_sample random_sample
        rejection_kernel block_select warp_select std_dim std_mean amin aminmax celoss all_finite vector_norm grad_norm
        gradient_norm l2norm_reduce nrm2 sum_of_squares beam_search nll find_min find_max find_minimum find_maximum find_best
        get_maximum get_minimum get_max get_min frobenius_norm compute_norm compute_norms calc_norm calculate_norm norm_squared
        squared_norm norm_sq vec_norm inf_norm max_norm abs_norm two_norm euclidean_norm p_norm lp_norm diff_norm error_norm
        row_norms col_norms column_norms scatter_view grpo_fwd grpo_bwd integral_image downscale downsample check_nan
        compute_sft mix_sample recovered_tokens check_numerics reverse_indices index_and_segment parallel_ce ce_fwd ce_bwd
        ce_forward ce_backward ce_loss
        """,
        r"""
        criterion topk crossentropy xentropy argmax argmin argsort nllloss absmax dbias i[sdcz]?am(?:ax|in)$
        lan(?:ge|sy|he|tr)$ ^[sdcz]{1,2}(?:nrm|asum)$ ^[sdczh]dot[cu]?$
        """,
    ),
    Rule(
        K.NORMALISATION,
        """
        layer_norm batch_norm group_norm instance_norm local_response_norm l2_norm qk_norm q_norm k_norm qkv_norm add_norm
        pre_norm post_norm norm_quant fused_norm norm_gated gated_norm soft_max ln skipln norm_kernel norm_fwd norm_bwd
        norm_forward norm_backward norm_f32 norm_f16 norm_fw norm_bw normalise bn_fw bn_bw bn_fwd bn_forward bn_backward
        bn_training bn_bwd bn_inf bn_stats sync_bn bn_finalize gn_fwd gn_bwd gn_cuda lrn gamma_beta beta_gamma rowwise_moments
        rsqrt_mean welford collect_statistics running_stats scale_norm weight_norm adarms modulate_norm rstd local_stats
        moving_stats compute_fused_params compute_backward_fused_params compute_internal_gradients cu_compute_grad_input dyt
        sparsemax sinkhorn group_norms cmvn gn_apply gn_partial gn_stats adaln ada_ln mvn fused_residual_norm add_residual_norm
        """
        + pairs("norm", "scale shift silu gelu relu act mul modulate apply gate bias residual infer"),
        r"""
        (?:layer|rms(?:n|_n)?|batch|group|instance|qk|add|pre|post|weight|re)norm softmax ^rms(?!prop|d) (?<!ortho)normaliz
        rmsn
        """,
    ),
    Rule(
        K.EMBEDDING,
        """
        emb lookup_table get_rows get_row index_select_large_index index_select_small_index wte wpe tbe word_emb sum_and_scatter
        krn_partial krn_partials partial_segments compute_grad_weight encoder_forward encoder_backward linearize_index
        linearize_cache
        """,
        r"embed",
    ),
    Rule(
        K.ELEMENTWISE,
        """
        relu prelu gelu silu swiglu geglu hardsigmoid dropout elementwise eltwise pointwise dequant dequantize requantize
        softcap adamw adamax qdq elu selu celu glu reglu mish swish tanh hardswish hardshrink softshrink softplus activation
        activate gradient_array shortcut gradient_descent interp bnll lstm_unit lstm_acts lstm_cell gru_cell rnn_cell act_mul
        erf sgd lamb adagrad adadelta rprop asgd lars ftrl lion nesterov sgd_momentum update_weights weights_update
        update_params update_parameters apply_gradients momentum_update apply_momentum dense_momentum sparse_apply
        sparse_momentum merged_momentum momentum_functor weight_momentum muon optimizer optim ema_update weight_decay threefry
        xorwow mrg32k3a mt19937 prng rng bernoulli distribution gen_sequenced generate_seed elem_wise bin_bcast op_tensor
        sub_tensor_op op_1_d_tensor op_2_d_tensor op_3_d_tensor op_4_d_tensor op_5_d_tensor neuron scaled_fp8 fp8_scale
        convert_fp8 convert_fp4 fp8_convert rowwise_to upcast_from downcast_to cvt_e4m3 cvt_e5m2 mxfp8_kernel mxfp4_kernel
        masked_fill penalties penalty logit_bias logits_bias logits_processor bad_words repeat_ngram grammar_bitmask
        token_bitmask logits_bitmask vocab_mask apply_temperature temperature_kernel temperature_scale temperature_penalty
        scale_temperature per_channel_cast per_token_cast per_block_cast per_tensor_cast cast_transpose cast_and_scale
        scaled_cast cast_and_transpose qkv_bias bias_transpose add_bias bias_add bias_act mul_add scale_bias scale_shift
        shift_scale channel_scale modulate gate_mul apply_scale split_scale generic_tensor mshadow_op mersenne lower_case
        upper_case mhc hc_pre hc_post hc_head hc_mix hc_split hc_expand ihc hyper_connection hyper_connections situ_and_mul
        situ_mul lanczos
        """
        + changes(WIDE_TYPES, NARROW_TYPES)
        + "".join(f" to{each} {each}to" for each in NARROW_TYPES.split()),
        r"""
        quanti[sz] quatize quant$ ^k?deq(?!ue) ^quant(?!i[lft]|um) dequant silu gelu swiglu geglu sigmoid elementwise eltwise
        elemwise pointwise bitrowwise softcap ^rand(?!perm) ^adamw? dropout philox ^curand leaky relu6?$ ^relu ^prelu _relu
        """,
    ),
)
"""Strongest first; `plain_words` comes after them."""
