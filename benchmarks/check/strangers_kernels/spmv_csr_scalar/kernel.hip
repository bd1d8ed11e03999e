#include <hip/hip_runtime.h>

// y = alpha * A x + beta * y, A in CSR, one thread for each row.
__global__ void spmv_csr_scalar(const int* __restrict__ row_ptr,
                                const int* __restrict__ col_idx,
                                const float* __restrict__ vals,
                                const float* __restrict__ x,
                                float* __restrict__ y,
                                float alpha,
                                float beta,
                                int rows)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;

    const int begin = row_ptr[row];
    const int end = row_ptr[row + 1];

    float sum = 0.0f;
    for (int p = begin; p < end; ++p)
        sum += vals[p] * x[col_idx[p]];

    y[row] = alpha * sum + beta * y[row];
}
