"""The vocabulary of kernel names that do plain work: reductions, copies, physics, elementwise arithmetic.

These are part of every other kind of work, so they decide where `class_words` finds nothing.
"""

from expctl.profiles.assemble.word_rules import WIDE_TYPES, Rule, changes, pairs
from expctl.profiles.model.kernel_profile import KernelClass as K

PLAIN_RULES: tuple[Rule, ...] = (
    Rule(
        K.REDUCTION,
        """
        prefix_sum tile_state max_pool avg_pool ave_pool block_reduce reduce_block warp_reduce reduce_warp shuffle_reduce
        reduce_shuffle sort_scatter radix_scatter reduced_block reduced_blocks non_zero non_zeros
        """,
    ),
    Rule(
        K.COPY,
        """
        copies cat contiguous indexing index_select index_sample index_put index_add index_func append fill filled fills zero
        zeros zeroing ones cast casts casting conversion cvt pad unpad swap reorder rearrange arrange reorg remap relayout
        pack_tensor
        packing unpacking unpack reshape deinterleave pack_qkv split_qkv qkv_split dup_by_rows lowp repeat expand set_to_value
        set_to_int set_to_zero unstack vstack hstack slice slices flatten unflatten arange iota linspace eye ^full_kernel
        set_constant set_const set_scalar set_columns set_default set_float numpy_full identity clone as_strided one_hot
        split_tensor ^range_kernel logspace update_cache shift_partition window_partition window_reverse to_fp16 to_bf16
        merge_heads split_heads space_to_depth depth_to_space patchify unpatchify image_merge row_major_to_col32 upload download
        get_index set_index transform_0213 trans_qkv qkvzba thd_read thd_partition get_item set_item matrix_trans
        blocked_layout triu
        tril ^diag_kernel image_to_column column_to_image broadcast_to to_dense to_sparse dense_to sparse_to full_tensor
        view_value set_val reset_duplicates
        """
        + changes(WIDE_TYPES)
        + pairs("set", "value values buffer buffers array arrays matrix matrices tensor tensors vector vectors kernel data"),
        r"""
        (?<!non)transpos permut copy concat memset gather scatter reformat swizzl unpad padding converter ^convert ^cvt
        shuffle(?!d) zeroize la(?:cpy|swpx?|set)$ ^[sdcz]swap$
        """,
    ),
    Rule(
        K.REDUCTION,
        """
        sums arg_max arg_min cummax cumprod bincount logsumexp unpooling ^prefix prefix_scan scan_prefix block_prefix
        exclusive_prefix inclusive_prefix tile_prefix add_prefix prefix_kernel sorted_merge merge_sorted bitonic hist pool
        maxunpool unique segmented nonzero variance min_max minmax dot dotc dotu vdot inner_product scalar_prod scalar_product
        any_kernel any_dim all_dim binary_search check_finite not_finite has_nan has_inf find_nan top_1 top_2 top_n top_one
        norm2 entropy subsample segsum sorted_search lse kl_div jsd mse smooth_l1 ctc median compute_mode quantile quantiles
        percentile accuracy search_sorted radix_kernel logprobs histo stats statistics shfl bsum nansum nanmean nanmax nanmin
        std_dev std_kernel odd_even brent_kung kogge_stone select_k warpsort summation blelloch hillis_steele
        """,
        r"""
        reduc(?!ed$) (?<!check)sum$ cumsum cumprod prefixsum sumexp ^histog pooling maxpool avgpool averagepool
        adaptive(?:max|average) sort(?!ed) (?<!db)scan$ ^scan sampling bincount
        """,
    ),
    Rule(
        K.OTHER,
        """
        particle particles atom atoms molecule molecules velocity velocities force forces pressure density densities energy
        energies momentum temperature viscosity vorticity turbulence advect advection convection diffusion flux fluxes hydro
        gravity laplacian poisson jacobi seidel boundary boundaries lattice voxel voxels mesh triangle triangles ray rays photon
        photons invert_matrix matrix_invert matrix_inverse invert_mapping gauss_jordan halo ghost neighbor neighbors neighbour
        neighbours centroid centroids population swarm pose poses quat quaternion trajectory camera quantum qubit qubits pointer
        pointers ptrs tree trees node nodes leaf leaves fitness genome kmer add_source add_sources source_term source_terms rhs
        census divergence curl statevec apply_gate gradient_subtract black_scholes distance distances coordinate coordinates
        coords potential potentials dipole dipoles charge charges radiance render vertex vertices sha256 md5 cipher nonce
        mandelbrot nbody collide collision spin spins euler navier stokes lbm sph fdtd pml maxwell schrodinger hamiltonian
        orbital orbitals fock eri heat thermal tendency tendencies microphysics cloud rain ocean atmosphere chemistry species
        reaction reactions ionization plasma electron electrons proton ion ions neutron neutrons tally efield bfield electric
        magnetic wavefunction material materials bsdf brdf light lights hittable scene surface surfaces shadow tsp dna protein
        descriptor descriptors alignment integrate integrator verlet leapfrog leap_frog runge rk4
        """,
        "flux advect diffusiv vortic fluid",
    ),
    Rule(K.REDUCTION, "count counts mean moments"),
    Rule(
        K.ELEMENTWISE,
        """
        rescale upsample axpby axpy add adds addition sub subtract mul multiply div divide pow powx power exp log sqrt rsqrt abs
        neg negate sin cos tan sincos atan floor ceil ^round round_kernel round_half round_nearest round_scale stochastic_round
        sign clip threshold where mask masked masks fma scaling triad lin_comb linear_combination act reciprocal square sqr
        cube_kernel cube_gpu cube_cuda cube_array xor compare equal greater less logical bitwise lerp addcmul addcdiv
        add_residual residual_add fused_residual residual_forward residual_backward increment plus_scalar upsampling hypot isnan
        isinf isfinite nan_to_num maximum_gpu minimum_gpu cupy_maximum cupy_minimum linear_inter polynomial transform for_each
        apply_op saturate acos asin acosh asinh atanh arccos arcsin arctan cosh sinh expm1 trunc frac_kernel heaviside erfc
        erfinv digamma lgamma gcd lcm hardtanh logaddexp xlogy isclose absolute had_ff had_hf hadamard fwt wht mixup token_shift
        mod_kernel mod_gpu fmod remainder unary ^binary binary_op binary_ops binary_kernel binary_elewise functor aten_uniform
        noise_uniform generate_uniform random_uniform uniform_kernel uniform_real uniform_int uniform_distribution multi_tensor
        gpu_map julia_map exponential exponentiate mult usub conj imag arith arithmetic multiplication division subtraction
        operator_bcast operator_element trinary ternary penalize isin ddim ddpm dropblock fix_nan gpu_broadcast fg_kernel
        dfg_kernel reset_nan conjugate ceiling ^angle invert regularize novograd active_fwd active_bwd alibi left_shift
        right_shift sobol fake_kernel rgb bgr rgba bgra yuv hsv bayer debayer demosaic 2_gray to_gray blend blending nstream
        gamma_correction warp_affine warp_perspective letterbox tone_mapping brightness contrast undistort
        """,
        r"""
        ^v(?:ec)?(?:tor)?_?add vecadd vecmul ax(?:p|pb|b)y ^axp bias resiz ups?ample interpolat clamp addmul muladd scale$
        scal$ ^scale elu$ (?<!i)glu$ floordiv
        """,
    ),
)
"""Strongest first."""
