"""The vocabulary of kernel names that is asked where `class_words` knows nothing: words of many meanings, and libraries."""

from expctl.profiles.assemble.word_rules import Rule, pairs
from expctl.profiles.model.kernel_profile import KernelClass as K

WEAK_RULES: tuple[Rule, ...] = (
    Rule(K.GEMM, "gate_up"),
    Rule(K.ELEMENTWISE, "expert_gate expert_gating experts_gate"),
    Rule(
        K.GEMM,
        "linear lora mlp ffn proj lm_head head_pair w13 dense_kernel dense_forward forward_layer qkv_kernel wo_a wo_b"
        " warp_decode projections"
        + pairs(
            "input output in out q k v o kv qkv kv_a kv_b query key value latent gate up down packed fused hidden",
            "projection",
        )
        + pairs("mxfp4 nvfp4 fp4 fp8 int4 int8 bf16 grouped dense shared routed", "expert experts")
        + pairs("latent", "input output up down moe")
        + pairs("mxfp8 mxfp4 nvfp4 fp8 bf16 persistent", "nn nt tn tt"),
    ),
    Rule(K.ELEMENTWISE, "gate gates gated gating update_step beta_g g_beta"),
    Rule(
        K.ATTENTION,
        "kda gla nsa dsa csa swa qsa indexer sage fa paged prefill_kernel prefill_split prefill_partial decode_partial"
        " kv_compress kv_compressor compress_kv compress_k compressor block_score block_scores index_score index_scores",
    ),
    Rule(K.OTHER, "gdn rwkv retention mesa_net"),
    Rule(K.EMBEDDING, "lookup select_rows"),
    Rule(K.COMMUNICATION, "barrier send recv"),
    Rule(K.NORMALISATION, "norm norms"),
    Rule(
        K.REDUCTION,
        """
        max min maximum minimum ^var ^vars var_mean mean_var prod cummin accumulate sample_token sample_tokens sample_logits
        sample_kernel sample_probs categorical classifier expert experts route routing router ^finalize moe_finalize gn_finalize
        merge_kernel merge_path merge_block block_merge radix
        """,
    ),
    Rule(K.GEMM, "moe weight_only"),
    Rule(
        K.ELEMENTWISE,
        "product grad_broadcast bilinear bicubic trilinear rot rotate lstm gru eq ne ge gt le lt rsub ema lookahead shampoo",
    ),
    Rule(
        K.COPY,
        """
        ^split split_kernel split_halves split_first split_last split_lastdim split_mid split_middim pack broadcast store write
        compact compaction clear move_data move_rows move_indice stash duplicate paste splice stitch blit ^tile ^stack ^diag
        ^diagonal diag_embed diag_part kv_cache k_cache v_cache flip ^roll reverse ^narrow unfold fold crop ^take
        ^init_kernel range_init
        """
        + pairs("extract get set copy grab", "diag diagonal matrix_diagonal")
        + pairs(
            "init initialize initialise reset",
            "array arrays vector vectors matrix matrices tensor data buffer buffers value values variables field fields grid "
            "mem memory device gpu with",
        ),
    ),
    Rule(K.CONVOLUTION, "sobel scharr prewitt gaussian_filter gauss_filter box_filter", r"blur"),
    Rule(K.GEMM, "^down ffn_down mlp_down shared_down expert_down experts_down down_kernel down_shrink small_batch"),
    Rule(K.ATTENTION, "vsa sta_fwd sta_bwd block_sparse_fwd block_sparse_bwd"),
)
"""Words that are part of many names; they decide where none of the words above is found."""

LIBRARIES: tuple[Rule, ...] = (
    Rule(K.CONVOLUTION, "cutlass_cudnn cutlass_5x_cudnn xmma_cudnn cask_cudnn"),
    Rule(
        K.GEMM,
        """
        cutlass tensorop wmma xmma mma mfma hgmma tensor_core tensor_cores xdl xdlops simt_sgemm ck cublas cublaslt cusparse
        rocblas rocsparse hipblaslt
        """
        + pairs("volta turing ampere hopper", "bf16 fp16 f16 tf32 h s"),
        r"[cwx]mma ^mfma cutlass tensorop",
    ),
    Rule(K.REDUCTION, "cub hipcub rocprim"),
    Rule(K.ELEMENTWISE, "rocrand hiprand oz2 ozaki ozimmu"),
)
"""Libraries and instructions that are used for nearly one kind of work; the last resort."""
