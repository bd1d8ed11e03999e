// What kernel files use beside the arithmetic of their own: alignment, vectors, halves, atomics, groups, integers.
#include <hip/hip_runtime.h>
#include <hip/hip_bf16.h>
#include <hip/hip_cooperative_groups.h>
#include <hip/hip_fp16.h>

namespace cg = cooperative_groups;

struct __align__(16) Aligned { float a; };
typedef struct { int x[3]; } __align__(8) Packed;
static_assert(sizeof(Aligned) == 16 && alignof(Packed) == 8, "__align__");

extern "C" __global__ void __launch_bounds__(64, 2, 1) integers(const unsigned *x, int *y) {
    unsigned a = x[threadIdx.x], b = x[threadIdx.x ^ 1];
    int *out = y + 16 * threadIdx.x;
    out[0] = __popc(a), out[1] = __clz(a), out[2] = __ffs(a), out[3] = __brev(a);
    out[4] = __umulhi(a, b), out[5] = __mul24(a, b), out[6] = __byte_perm(a, b, 0x6240), out[7] = __funnelshift_r(a, b, 7);
    out[8] = __dp4a(int(a), int(b), 5), out[9] = __dp4a(a, b, 5u), out[10] = __usad(a, b, 1), out[11] = __hadd(int(a), int(b));
    out[12] = __ballot(a & 1), out[13] = __match_any(a & 3), out[14] = __reduce_add_sync(0xffffffffu, a & 255);
    out[15] = __syncthreads_count(a & 1) + 100 * __syncthreads_or(a == 7) + 1000 * __syncthreads_and(a < ~0u);
}

extern "C" __global__ void halves(const __half2 *x, __half2 *y, float *f) {
    int i = threadIdx.x;
    __half2 a = x[i], b = __lowhigh2highlow(a);
    __half2 *out = y + 8 * i;
    out[0] = __hfma2(a, b, __float2half2_rn(0.5f)), out[1] = __hmax2(a, -b), out[2] = __habs2(a) - b;
    out[3] = __halves2half2(hsqrt(__habs(a.x)), hexp(a.y)), out[4] = __hgt2(a, b), out[5] = a * __half2half2(__int2half_rn(3));
    out[6] = __floats2half2_rn(f[0], __half2float(a.x)), out[7] = a;
    out[7] += b;
    atomicAdd(&y[8 * 32], a);
}

extern "C" __global__ void brain_floats(const __hip_bfloat16 *x, __hip_bfloat16 *y, float *f) {
    int i = threadIdx.x;
    __hip_bfloat16 a = x[i], b = x[i + 32];
    __hip_bfloat162 pair = __halves2bfloat162(a, b);
    y[8 * i] = a + b, y[8 * i + 1] = a * b, y[8 * i + 2] = __hfma(a, b, a), y[8 * i + 3] = __hmax(a, b);
    y[8 * i + 4] = __low2bfloat16(pair * pair), y[8 * i + 5] = hexp(a), y[8 * i + 6] = -a, y[8 * i + 7] = __float2bfloat16(1.0f);
    y[8 * i + 7] += b;
    f[i] = a * 2.0f + b;
}

extern "C" __global__ void vectors(const float4 *x, float4 *y, int4 *n) {
    float4 a = x[threadIdx.x], b = make_float4(1, 2, 3, 4);
    y[4 * threadIdx.x] = 2.0f * a - b, y[4 * threadIdx.x + 1] = -a / b, y[4 * threadIdx.x + 2] = a * 0.5f + b;
    a += b;
    y[4 * threadIdx.x + 3] = a;
    int4 c = make_int4(5, 6, 7, 8) + int(threadIdx.x);
    n[threadIdx.x] = ((c << 2) ^ (c & 3)) | (c % 5 == c ? 1 : 0);
}

extern "C" __global__ void atomics(int *n, unsigned *u, float *f, double *d, unsigned long long *l, unsigned short *s) {
    int i = threadIdx.x;
    atomicAdd(&n[0], i), atomicMax(&n[1], i), atomicMin(&n[2], -i), atomicXor(&n[3], i), atomicOr_block(&n[4], 1 << i), atomicSub(&n[5], 1);
    atomicInc(&u[0], 9), atomicDec(&u[1], 9), atomicExch(&u[2], 5u), atomicCAS(&u[3], 0u, 3u), atomicAnd_system(&u[4], ~(1u << i));
    atomicAdd(&f[0], 0.5f * i), atomicMax(&f[1], float(i)), atomicMin(&f[2], float(-i)), unsafeAtomicAdd(&f[3], 1.0f), atomicExch(&f[4], 2.0f);
    atomicAdd(&d[0], 0.25), atomicAdd(&l[0], 1ull << 40), atomicMax(&l[1], 1ull << i), atomicCAS(&l[2], 0ull, 7ull), atomicCAS(&s[1], (unsigned short)0, (unsigned short)9);
}

extern "C" __global__ void groups(const int *x, int *y) {
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    cg::thread_group slow = cg::tiled_partition(block, 16);
    int v = x[block.thread_rank()], *out = y + 12 * block.thread_rank();
    out[0] = tile.thread_rank() + 100 * tile.meta_group_rank() + 10000 * tile.size();
    out[1] = cg::reduce(tile, v, cg::plus<int>()), out[2] = cg::inclusive_scan(tile, v), out[3] = cg::exclusive_scan(tile, v, cg::plus<int>());
    out[4] = tile.shfl_down(v, 1), out[5] = tile.shfl(v, 3), out[6] = tile.ballot(v & 1), out[7] = tile.any(v == 5) + 2 * tile.all(v > 2);
    out[8] = slow.thread_rank() + 100 * slow.size(), out[9] = cg::this_grid().thread_rank();
    out[10] = out[11] = 0;
    if (v % 3 == 0) {
        cg::coalesced_group active = cg::coalesced_threads();
        out[10] = active.thread_rank() + 100 * active.size(), out[11] = active.shfl(v, 1);
    }
    slow.sync(), tile.sync(), cg::sync(block);
}
