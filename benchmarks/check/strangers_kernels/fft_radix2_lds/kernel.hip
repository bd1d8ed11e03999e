#include <hip/hip_runtime.h>

// In-place radix-2 decimation-in-time FFT of N points per block in LDS. The
// twiddles exp(-2 pi i k / N), k < N/2, come from a table. A workgroup of N/2
// threads does one butterfly a thread and stage.
#define N 128
#define LOG_N 7

struct cpx { float re, im; };

__device__ inline unsigned reverse_bits(unsigned v)
{
    unsigned r = 0;
    for (int b = 0; b < LOG_N; ++b) {
        r = (r << 1) | (v & 1u);
        v >>= 1;
    }
    return r;
}

__global__ void __launch_bounds__(N / 2)
fft_batch(const float* __restrict__ in,       // batch x N x (re, im)
          const float* __restrict__ twiddle,  // N/2 x (re, im)
          float* __restrict__ out,
          int batch)
{
    __shared__ cpx s[N];
    __shared__ cpx w[N / 2];
    const int t = threadIdx.x;

    w[t].re = twiddle[2 * t];
    w[t].im = twiddle[2 * t + 1];

    for (int b = blockIdx.x; b < batch; b += gridDim.x) {
        const float* src = in + (size_t)b * 2 * N;
        float* dst = out + (size_t)b * 2 * N;

        for (int i = t; i < N; i += N / 2) {
            const unsigned r = reverse_bits(i);
            s[r].re = src[2 * i];
            s[r].im = src[2 * i + 1];
        }
        __syncthreads();

        for (int half = 1; half < N; half *= 2) {
            const int k = t & (half - 1);
            const int lo = 2 * (t - k) + k;
            const int hi = lo + half;
            const cpx tw = w[k * (N / 2 / half)];

            const cpx p = s[lo], q = s[hi];
            const float re = q.re * tw.re - q.im * tw.im;
            const float im = q.re * tw.im + q.im * tw.re;
            s[lo].re = p.re + re;
            s[lo].im = p.im + im;
            s[hi].re = p.re - re;
            s[hi].im = p.im - im;
            __syncthreads();
        }

        for (int i = t; i < N; i += N / 2) {
            dst[2 * i] = s[i].re;
            dst[2 * i + 1] = s[i].im;
        }
        __syncthreads();  // the next signal reuses s
    }
}
