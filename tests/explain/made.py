"""Made kernels: a small one in assembly, whose loop a person counted, and one in HIP whose loop has several blocks."""

from collections.abc import Mapping
from pathlib import Path

from expctl.check.case import case_of
from expctl.check.case_file import Description
from expctl.check.kernel_file import KernelFile, read_kernels
from expctl.inspection.device_compiler import Options

STATEMENTS = """\
	s_load_b64 s[2:3], s[0:1], 0x0
	s_load_b32 s4, s[0:1], 0x8
	v_lshlrev_b32_e32 v1, 3, v0
	v_mov_b32_e32 v2, 0
	s_waitcnt lgkmcnt(0)
.Lturn:
	global_load_b32 v3, v1, s[2:3]
	s_waitcnt vmcnt(0)
	ds_store_b32 v1, v3
	s_waitcnt lgkmcnt(0)
	ds_load_b32 v4, v1
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v2, v2, v4
	s_add_i32 s4, s4, -1
	s_cmp_lg_u32 s4, 0
	s_cbranch_scc1 .Lturn
	global_store_b32 v1, v2, s[2:3]
	s_endpgm
"""
"""Lanes are 8 bytes apart: an access of memory touches 256 bytes, two lines, where its 128 bytes would fit into one; an access
of LDS uses every other bank twice, where all banks could serve it in one pass.
"""
_FRAME = """\
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1151"
	.text
	.type	walk,@function
walk:
{statements}	.section	.rodata,"a",@progbits
	.amdhsa_kernel walk
		.amdhsa_group_segment_fixed_size 256
		.amdhsa_kernarg_size 12
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_system_sgpr_workgroup_id_x 0
		.amdhsa_next_free_vgpr 24
		.amdhsa_next_free_sgpr 8
	.end_amdhsa_kernel
	.text
.Lfunc_end0:
	.size	walk, .Lfunc_end0-walk
	.amdgpu_metadata
---
amdhsa.kernels:
  - .args:
      - .address_space:  global
        .offset:         0
        .size:           8
        .value_kind:     global_buffer
      - .offset:         8
        .size:           4
        .value_kind:     by_value
    .group_segment_fixed_size: 256
    .kernarg_segment_align: 8
    .kernarg_segment_size: 12
    .max_flat_workgroup_size: 64
    .name:           walk
    .private_segment_fixed_size: 0
    .sgpr_count:     8
    .sgpr_spill_count: 0
    .symbol:         walk.kd
    .vgpr_count:     24
    .vgpr_spill_count: 0
    .wavefront_size: 32
amdhsa.target:   amdgcn-amd-amdhsa--gfx1151
amdhsa.version:
  - 1
  - 2
...

	.end_amdgpu_metadata
"""
CASE = {
    "shapes": {"n": 3},
    "grid": [1],
    "block": [32],
    "arguments": [
        {"name": "x", "dtype": "f32", "shape": [64], "role": "inout"},
        {"name": "n", "dtype": "i32", "value": "n"},
    ],
}
PRODUCT = """\
#include <hip/hip_runtime.h>

__global__ void product(const float *a, const float *b, float *out, int n) {
    __shared__ float tile[32][33];
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
        tile[threadIdx.x][i % 32] = a[i * 32 + threadIdx.x];
        __syncthreads();
        if (__builtin_expect(n - i == 5, 0)) sum = __builtin_popcount(n) * sum + i;
        else sum += tile[i % 32][threadIdx.x] * b[threadIdx.x * n + i];
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}
"""
PRODUCT_CASE = {
    "shapes": {"n": 8},
    "grid": [1],
    "block": [32],
    "arguments": [
        {"name": "a", "dtype": "f32", "shape": ["n", 32]},
        {"name": "b", "dtype": "f32", "shape": [32, "n"]},
        {"name": "out", "dtype": "f32", "shape": [32], "role": "out"},
        {"name": "n", "dtype": "i32", "value": "n"},
    ],
}


def walk(folder: Path, statements: str = STATEMENTS, name: str = "walk.s") -> KernelFile:
    """Write an assembly text whose kernel has these statements, and read it."""
    path = folder / name
    path.write_text(_FRAME.format(statements=statements))
    return read_kernels(path, Options(arch=""))


def source(folder: Path, text: str) -> KernelFile:
    """Write a HIP source, compile and read it."""
    path = folder / "made.hip"
    path.write_text(text)
    return read_kernels(path, Options(arch=""))


def described(case: Mapping[str, object], **shapes: int) -> Description:
    """The description of a launch at other shapes."""
    return Description(case=case_of({**case, "shapes": shapes or case["shapes"]}, "the case"), where="the case")
