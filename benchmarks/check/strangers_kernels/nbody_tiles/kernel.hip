#include <hip/hip_runtime.h>

#define TILE 64

// One symplectic Euler step; xyz and the mass in w.
__global__ void nbody_step(const float4* __restrict__ pos, const float4* __restrict__ vel,
                           float4* __restrict__ new_pos, float4* __restrict__ new_vel,
                           int n, float dt, float eps2)
{
    __shared__ float4 tile[TILE];

    const int i = blockIdx.x * TILE + threadIdx.x;
    float4 p = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (i < n)
        p = pos[i];

    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int base = 0; base < n; base += TILE) {
        const int j = base + threadIdx.x;
        if (j < n) tile[threadIdx.x] = pos[j];
        __syncthreads();  // tile loaded

        const int cnt = n - base < TILE ? n - base : TILE;
        for (int k = 0; k < cnt; ++k) {
            const float4 q = tile[k];
            const float dx = q.x - p.x;
            const float dy = q.y - p.y;
            const float dz = q.z - p.z;
            const float inv = rsqrtf(dx * dx + dy * dy + dz * dz + eps2);
            const float s = q.w * inv * inv * inv;
            ax += dx * s;
            ay += dy * s;
            az += dz * s;
        }
        __syncthreads();  // tile used up
    }

    if (i < n) {
        float4 v = vel[i];
        v.x += ax * dt;
        v.y += ay * dt;
        v.z += az * dt;
        p.x += v.x * dt;
        p.y += v.y * dt;
        p.z += v.z * dt;
        new_pos[i] = p;
        new_vel[i] = v;
    }
}
