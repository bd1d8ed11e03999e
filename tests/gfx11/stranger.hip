#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define TX __builtin_amdgcn_workitem_id_x()
#define TY __builtin_amdgcn_workitem_id_y()
#define BX __builtin_amdgcn_workgroup_id_x()
#define BY __builtin_amdgcn_workgroup_id_y()
#define BARRIER() do { __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); } while (0)
// tiled GEMM, 16 x 16 threads, float
extern "C" __global__ void __attribute__((amdgpu_flat_work_group_size(256,256))) gemm_f32(const float *a, const float *b, float *c, int m, int n, int k) {
  __shared__ float as[16][17], bs[16][17];
  int row = BY * 16 + TY, col = BX * 16 + TX;
  float sum = 0;
  for (int t = 0; t < k; t += 16) {
    as[TY][TX] = row < m && t + TX < k ? a[row * k + t + TX] : 0.0f;
    bs[TY][TX] = col < n && t + TY < k ? b[(t + TY) * n + col] : 0.0f;
    BARRIER();
    for (int i = 0; i < 16; ++i) sum += as[TY][i] * bs[i][TX];
    BARRIER();
  }
  if (row < m && col < n) c[row * n + col] = sum;
}
extern "C" __global__ void __attribute__((amdgpu_flat_work_group_size(256,256))) gemm_f16_bytes(const _Float16 *a, const unsigned char *b, const _Float16 *bias, _Float16 *c, float scale, int m, int n, int k) {
  __shared__ _Float16 as[16][16]; __shared__ unsigned char bs[16][16];
  int row = BY * 16 + TY, col = BX * 16 + TX;
  float sum = 0;
  for (int t = 0; t < k; t += 16) {
    as[TY][TX] = row < m && t + TX < k ? a[(long)row * k + t + TX] : (_Float16)0;
    bs[TY][TX] = col < n && t + TY < k ? b[(long)(t + TY) * n + col] : 0;
    BARRIER();
    for (int i = 0; i < 16; ++i) { unsigned short h = bs[i][TX] << 8; sum += (float)as[TY][i] * (float)__builtin_bit_cast(_Float16, h); }
    BARRIER();
  }
  if (row < m && col < n) c[(long)row * n + col] = (_Float16)(sum * scale + (bias ? (float)bias[col] : 0.0f));
}
// block reduction: sum and max of a vector, grid-stride loop, 64-bit index, signed division
extern "C" __global__ void __attribute__((amdgpu_flat_work_group_size(128,128))) reduce(const float *x, float *sums, int *best, long count, int stride, int *quotients) {
  __shared__ float s[128]; __shared__ int most[128];
  float sum = 0; int top = -2147483647;
  for (long i = BX * 128l + TX; i < count; i += stride) { sum += x[i] * x[i]; int v = (int)(x[i] * 100.0f); top = v > top ? v : top; }
  s[TX] = sum; most[TX] = top;
  BARRIER();
  for (int w = 64; w; w >>= 1) {
    if (TX < w) { s[TX] += s[TX + w]; if (most[TX + w] > most[TX]) most[TX] = most[TX + w]; }
    BARRIER();
  }
  if (TX == 0) { sums[BX] = __builtin_sqrtf(s[0]) / 3.0f; best[BX] = most[0]; quotients[BX] = most[0] / stride + most[0] % 7; }
}
// softmax row, exp through exp2
extern "C" __global__ void __attribute__((amdgpu_flat_work_group_size(64,64))) softmax(const _Float16 *x, _Float16 *y, int n) {
  __shared__ float s[64];
  const _Float16 *row = x + (long)BX * n;
  float top = -1e30f;
  for (int i = TX; i < n; i += 64) top = __builtin_fmaxf(top, (float)row[i]);
  s[TX] = top; BARRIER();
  for (int w = 32; w; w >>= 1) { float o = s[TX ^ w]; BARRIER(); top = __builtin_fmaxf(top, o); s[TX] = top; BARRIER(); }
  float sum = 0;
  for (int i = TX; i < n; i += 64) sum += __builtin_amdgcn_exp2f(((float)row[i] - top) * 1.44269504f);
  BARRIER(); s[TX] = sum; BARRIER();
  for (int w = 32; w; w >>= 1) { float o = s[TX ^ w]; BARRIER(); sum += o; s[TX] = sum; BARRIER(); }
  for (int i = TX; i < n; i += 64) y[(long)BX * n + i] = (_Float16)(__builtin_amdgcn_exp2f(((float)row[i] - top) * 1.44269504f) / sum);
}
// private array in scratch
extern "C" __global__ void __attribute__((amdgpu_flat_work_group_size(64,64))) scratchy(const int *x, int *y, int n) {
  int local[32];
  for (int i = 0; i < 32; ++i) local[i] = x[(TX + i) % n];
  for (int i = 0; i < 32; ++i) local[(local[i] & 31)] += i;
  int s = 0; for (int i = 0; i < 32; ++i) s = s * 3 + local[i];
  y[BX * 64 + TX] = s;
}
// bytes and shorts, vector types
typedef unsigned char uc; typedef unsigned short us; typedef signed char sc;
extern "C" __global__ void __attribute__((amdgpu_flat_work_group_size(64,64))) bytes(const uc *x, const sc *z, us *y, uc *w, unsigned long *q, int n) {
  int i = BX * 64 + TX; if (i >= n) return;
  int v = x[i] * z[i]; y[i] = (us)(v + (x[i] << 3)); w[i] = (uc)(v >> 4 ^ __builtin_popcount(v));
  q[i] = (unsigned long)x[i] * 0x123456789abcdefull + __builtin_clz(v | 1) + __builtin_ctz(v | 256);
}
// register-tiled WMMA gemm without LDS staging of B, half x half
typedef _Float16 h16 __attribute__((ext_vector_type(16))); typedef float f8 __attribute__((ext_vector_type(8)));
extern "C" __global__ void __attribute__((amdgpu_flat_work_group_size(32,32))) wmma_plain(const _Float16 *a, const _Float16 *b, float *c, int n, int k) {
  int l = TX % 16; f8 acc = {};
  for (int t = 0; t < k; t += 16) {
    h16 x, y;
    for (int i = 0; i < 16; ++i) { x[i] = a[(BY * 16 + l) * k + t + i]; y[i] = b[(t + i) * n + BX * 16 + l]; }
    acc = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(x, y, acc);
  }
  for (int s = 0; s < 8; ++s) c[(BY * 16 + 2 * s + TX / 16) * n + BX * 16 + l] = acc[s];
}
