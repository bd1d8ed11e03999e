// Functions that nvcc has built in, declared and not defined: a call of one is what it is by its name. PURE ones depend on what
// they are given alone; the others keep their order.
#pragma once

#define EXPCTL_PURE extern "C" __device__ __attribute__((const, nothrow))
#define EXPCTL_ACT extern "C" __device__ __attribute__((convergent, nothrow))

// Bits and whole numbers.
EXPCTL_PURE unsigned __byte_perm(unsigned, unsigned, unsigned);
EXPCTL_PURE unsigned __funnelshift_l(unsigned, unsigned, unsigned);
EXPCTL_PURE unsigned __funnelshift_lc(unsigned, unsigned, unsigned);
EXPCTL_PURE unsigned __funnelshift_r(unsigned, unsigned, unsigned);
EXPCTL_PURE unsigned __funnelshift_rc(unsigned, unsigned, unsigned);
EXPCTL_PURE unsigned __brev(unsigned);
EXPCTL_PURE unsigned long long __brevll(unsigned long long);
EXPCTL_PURE int __clz(int);
EXPCTL_PURE int __clzll(long long);
EXPCTL_PURE int __ffs(int);
EXPCTL_PURE int __ffsll(long long);
EXPCTL_PURE int __popc(unsigned);
EXPCTL_PURE int __popcll(unsigned long long);
EXPCTL_PURE int __mul24(int, int);
EXPCTL_PURE unsigned __umul24(unsigned, unsigned);
EXPCTL_PURE int __mulhi(int, int);
EXPCTL_PURE unsigned __umulhi(unsigned, unsigned);
EXPCTL_PURE long long __mul64hi(long long, long long);
EXPCTL_PURE unsigned long long __umul64hi(unsigned long long, unsigned long long);
EXPCTL_PURE unsigned __sad(int, int, unsigned);
EXPCTL_PURE unsigned __usad(unsigned, unsigned, unsigned);
EXPCTL_PURE int __dp4a(int, int, int);
EXPCTL_PURE int __dp2a_lo(int, int, int);
EXPCTL_PURE int __dp2a_hi(int, int, int);
EXPCTL_PURE unsigned __vadd2(unsigned, unsigned);
EXPCTL_PURE unsigned __vadd4(unsigned, unsigned);
EXPCTL_PURE unsigned __vsub4(unsigned, unsigned);
EXPCTL_PURE unsigned __vmaxs4(unsigned, unsigned);
EXPCTL_PURE unsigned __vcmpeq4(unsigned, unsigned);
EXPCTL_PURE unsigned __vmins2(unsigned, unsigned);
EXPCTL_PURE unsigned __vmaxs2(unsigned, unsigned);
EXPCTL_PURE unsigned __vminu2(unsigned, unsigned);
EXPCTL_PURE unsigned __vmaxu2(unsigned, unsigned);
EXPCTL_PURE unsigned __fns(unsigned, unsigned, int);

// The same bits under another type, and conversions.
EXPCTL_PURE int __float_as_int(float);
EXPCTL_PURE unsigned __float_as_uint(float);
EXPCTL_PURE float __int_as_float(int);
EXPCTL_PURE float __uint_as_float(unsigned);
EXPCTL_PURE long long __double_as_longlong(double);
EXPCTL_PURE double __longlong_as_double(long long);
EXPCTL_PURE int __float2int_rn(float);
EXPCTL_PURE int __float2int_rz(float);
EXPCTL_PURE int __float2int_rd(float);
EXPCTL_PURE int __float2int_ru(float);
EXPCTL_PURE unsigned __float2uint_rn(float);
EXPCTL_PURE unsigned __float2uint_rz(float);
EXPCTL_PURE float __int2float_rn(int);
EXPCTL_PURE float __uint2float_rn(unsigned);
EXPCTL_PURE float __double2float_rn(double);
EXPCTL_PURE size_t __cvta_generic_to_shared(const void *);
EXPCTL_PURE size_t __cvta_generic_to_global(const void *);
EXPCTL_PURE size_t __cvta_generic_to_local(const void *);
EXPCTL_PURE size_t __cvta_generic_to_constant(const void *);
EXPCTL_PURE void *__cvta_shared_to_generic(size_t);
EXPCTL_PURE void *__cvta_global_to_generic(size_t);
EXPCTL_PURE unsigned __isShared(const void *);
EXPCTL_PURE unsigned __isGlobal(const void *);
EXPCTL_PURE unsigned __isClusterShared(const void *);

// Real numbers.
#define EXPCTL_REAL_1(name) EXPCTL_PURE float name(float);
#define EXPCTL_REAL_2(name) EXPCTL_PURE float name(float, float);
#define EXPCTL_REAL_3(name) EXPCTL_PURE float name(float, float, float);
EXPCTL_REAL_3(__fmaf_ieee_rn) EXPCTL_REAL_3(__fmaf_rn) EXPCTL_REAL_3(__fmaf_rz) EXPCTL_REAL_3(__fmaf_rd) EXPCTL_REAL_3(__fmaf_ru)
EXPCTL_REAL_2(__fadd_rn) EXPCTL_REAL_2(__fadd_rz) EXPCTL_REAL_2(__fsub_rn) EXPCTL_REAL_2(__fsub_rz)
EXPCTL_REAL_2(__fmul_rn) EXPCTL_REAL_2(__fmul_rz) EXPCTL_REAL_2(__fdiv_rn) EXPCTL_REAL_2(__fdividef)
EXPCTL_REAL_1(__frcp_rn) EXPCTL_REAL_1(__fsqrt_rn) EXPCTL_REAL_1(__frsqrt_rn) EXPCTL_REAL_1(__saturatef)
EXPCTL_REAL_1(__expf) EXPCTL_REAL_1(__exp10f) EXPCTL_REAL_1(__logf) EXPCTL_REAL_1(__log2f) EXPCTL_REAL_1(__log10f)
EXPCTL_REAL_1(__sinf) EXPCTL_REAL_1(__cosf) EXPCTL_REAL_1(__tanf) EXPCTL_REAL_2(__powf) EXPCTL_REAL_1(rsqrtf)
EXPCTL_REAL_1(expf) EXPCTL_REAL_1(exp2f) EXPCTL_REAL_1(exp10f) EXPCTL_REAL_1(expm1f) EXPCTL_REAL_1(logf)
EXPCTL_REAL_1(log2f) EXPCTL_REAL_1(log10f) EXPCTL_REAL_1(log1pf) EXPCTL_REAL_1(sinf) EXPCTL_REAL_1(cosf)
EXPCTL_REAL_1(tanf) EXPCTL_REAL_1(tanhf) EXPCTL_REAL_1(erff) EXPCTL_REAL_1(sqrtf) EXPCTL_REAL_1(cbrtf)
EXPCTL_REAL_1(fabsf) EXPCTL_REAL_1(floorf) EXPCTL_REAL_1(ceilf) EXPCTL_REAL_1(truncf) EXPCTL_REAL_1(roundf)
EXPCTL_REAL_1(rintf) EXPCTL_REAL_1(nearbyintf) EXPCTL_REAL_2(fminf) EXPCTL_REAL_2(fmaxf) EXPCTL_REAL_2(fmodf)
EXPCTL_REAL_2(powf) EXPCTL_REAL_2(copysignf) EXPCTL_REAL_2(atan2f) EXPCTL_REAL_3(fmaf)
#define EXPCTL_REALS_1(name) EXPCTL_PURE double name(double);
#define EXPCTL_REALS_2(name) EXPCTL_PURE double name(double, double);
EXPCTL_REALS_1(exp) EXPCTL_REALS_1(log) EXPCTL_REALS_1(sin) EXPCTL_REALS_1(cos) EXPCTL_REALS_1(tanh) EXPCTL_REALS_1(sqrt)
EXPCTL_REALS_1(rsqrt) EXPCTL_REALS_1(fabs) EXPCTL_REALS_1(floor) EXPCTL_REALS_1(ceil) EXPCTL_REALS_2(fmin)
EXPCTL_REALS_2(fmax) EXPCTL_REALS_2(pow) EXPCTL_REALS_2(fmod)
EXPCTL_PURE double fma(double, double, double);
static inline __device__ int min(int a, int b) { return a < b ? a : b; }
static inline __device__ int max(int a, int b) { return a > b ? a : b; }
static inline __device__ unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
static inline __device__ unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }
static inline __device__ long long min(long long a, long long b) { return a < b ? a : b; }
static inline __device__ long long max(long long a, long long b) { return a > b ? a : b; }
static inline __device__ float min(float a, float b) { return fminf(a, b); }
static inline __device__ float max(float a, float b) { return fmaxf(a, b); }

// Barriers, fences, time.
static inline __device__ void __syncwarp(unsigned mask = 0xffffffffu) { __nvvm_bar_warp_sync(mask); }
EXPCTL_ACT void __threadfence();
EXPCTL_ACT void __threadfence_block();
EXPCTL_ACT void __threadfence_system();
EXPCTL_ACT int __syncthreads_or(int);
EXPCTL_ACT int __syncthreads_and(int);
EXPCTL_ACT int __syncthreads_count(int);
EXPCTL_ACT void __nanosleep(unsigned);
EXPCTL_ACT void __barrier_sync(unsigned);
EXPCTL_ACT void __barrier_sync_count(unsigned, unsigned);
EXPCTL_ACT void cudaGridDependencySynchronize();
EXPCTL_ACT void cudaTriggerProgrammaticLaunchCompletion();
EXPCTL_ACT long long clock64();
EXPCTL_ACT void __trap();
EXPCTL_ACT void __brkpt();
EXPCTL_ACT void __assume(bool);
EXPCTL_ACT unsigned __activemask();

// Of a cluster.
EXPCTL_ACT void __cluster_barrier_arrive();
EXPCTL_ACT void __cluster_barrier_arrive_relaxed();
EXPCTL_ACT void __cluster_barrier_wait();
EXPCTL_PURE unsigned __cluster_query_shared_rank(const void *);
EXPCTL_PURE void *__cluster_map_shared_rank(const void *, unsigned);
EXPCTL_PURE unsigned __clusterDimIsSpecified();
EXPCTL_PURE unsigned __clusterRelativeBlockRank();
EXPCTL_PURE unsigned __clusterSizeInBlocks();
EXPCTL_PURE dim3 __clusterDim();
EXPCTL_PURE dim3 __clusterIdx();
EXPCTL_PURE dim3 __clusterRelativeBlockIdx();
EXPCTL_PURE dim3 __clusterGridDimInClusters();

// Between the lanes of a warp.
EXPCTL_ACT unsigned __ballot_sync(unsigned, int);
EXPCTL_ACT int __any_sync(unsigned, int);
EXPCTL_ACT int __all_sync(unsigned, int);
EXPCTL_ACT unsigned __reduce_add_sync(unsigned, unsigned);
EXPCTL_ACT unsigned __reduce_max_sync(unsigned, unsigned);
EXPCTL_ACT unsigned __reduce_min_sync(unsigned, unsigned);
template <class T>
__device__ __attribute__((convergent, nothrow)) T __shfl_sync(unsigned mask, T value, int lane, int width = 32);
template <class T>
__device__ __attribute__((convergent, nothrow)) T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32);
template <class T>
__device__ __attribute__((convergent, nothrow)) T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32);
template <class T>
__device__ __attribute__((convergent, nothrow)) T __shfl_xor_sync(unsigned mask, T value, int by, int width = 32);
template <class T>
__device__ __attribute__((convergent, nothrow)) unsigned __match_any_sync(unsigned mask, T value);

// Loads and stores with a hint for the caches, and atomics.
#define EXPCTL_LOAD(name) \
  template <class T>      \
  __device__ __attribute__((nothrow)) T name(const T *place);
EXPCTL_LOAD(__ldg) EXPCTL_LOAD(__ldca) EXPCTL_LOAD(__ldcg) EXPCTL_LOAD(__ldcs) EXPCTL_LOAD(__ldlu) EXPCTL_LOAD(__ldcv)
#define EXPCTL_STORE(name) \
  template <class T>       \
  __device__ __attribute__((nothrow)) void name(T *place, T value);
EXPCTL_STORE(__stwb) EXPCTL_STORE(__stcg) EXPCTL_STORE(__stcs) EXPCTL_STORE(__stwt)
#define EXPCTL_ATOMIC(name)    \
  template <class T, class V> \
  __device__ __attribute__((nothrow)) T name(T *place, V value);
EXPCTL_ATOMIC(atomicAdd) EXPCTL_ATOMIC(atomicSub) EXPCTL_ATOMIC(atomicExch) EXPCTL_ATOMIC(atomicMin) EXPCTL_ATOMIC(atomicMax)
EXPCTL_ATOMIC(atomicAnd) EXPCTL_ATOMIC(atomicOr) EXPCTL_ATOMIC(atomicXor) EXPCTL_ATOMIC(atomicInc) EXPCTL_ATOMIC(atomicDec)
EXPCTL_ATOMIC(atomicAdd_block) EXPCTL_ATOMIC(atomicAdd_system)
template <class T>
__device__ __attribute__((nothrow)) T atomicCAS(T *place, T expected, T value);
EXPCTL_ACT int printf(const char *, ...);
EXPCTL_ACT void __assert_fail(const char *, const char *, unsigned, const char *);
