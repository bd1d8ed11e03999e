// Cooperative groups of threads: the workgroup, tiles of a wave, and the lanes that are active. A barrier over the whole grid is
// declared and refused where it is used.
#pragma once

#include "hip_runtime.h"

namespace cooperative_groups {

// A group by the number of its threads; those of a tile are neighbours in a wave. `lanes` is 0 for a workgroup.
class thread_group {
  protected:
    unsigned lanes;
    unsigned long long mask;
    __device__ thread_group(unsigned lanes, unsigned long long mask) : lanes(lanes), mask(mask) {}
    __device__ static unsigned block_threads() { return blockDim.x * blockDim.y * blockDim.z; }
    __device__ static unsigned block_rank() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
    friend __device__ thread_group tiled_partition(const thread_group &, unsigned);

  public:
    __device__ unsigned size() const { return lanes == 0 ? block_threads() : mask ? __popcll(mask) : lanes; }
    __device__ unsigned num_threads() const { return size(); }
    __device__ unsigned cg_type() const { return lanes; }
    __device__ unsigned thread_rank() const {
        return lanes == 0 ? block_rank() : mask ? __popcll(mask & __lanemask_lt()) : __lane_id() % lanes;
    }
    __device__ bool is_valid() const { return true; }
    __device__ void sync() const {
        if (lanes == 0) __syncthreads();
        else __syncwarp();
    }
};

class thread_block : public thread_group {
  public:
    __device__ thread_block() : thread_group(0, 0) {}
    __device__ static void sync() { __syncthreads(); }
    __device__ static unsigned thread_rank() { return block_rank(); }
    __device__ static unsigned size() { return block_threads(); }
    __device__ static unsigned num_threads() { return block_threads(); }
    __device__ static dim3 group_index() { return blockIdx; }
    __device__ static dim3 thread_index() { return threadIdx; }
    __device__ static dim3 group_dim() { return blockDim; }
    __device__ static dim3 dim_threads() { return blockDim; }
};
__device__ static inline thread_block this_thread_block() { return thread_block(); }

class grid_group {
  public:
    __device__ static unsigned num_blocks() { return gridDim.x * gridDim.y * gridDim.z; }
    __device__ static unsigned block_rank() { return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z); }
    __device__ static unsigned long long size() { return (unsigned long long)num_blocks() * thread_block::size(); }
    __device__ static unsigned long long num_threads() { return size(); }
    __device__ static unsigned long long thread_rank() {
        return (unsigned long long)block_rank() * thread_block::size() + thread_block::thread_rank();
    }
    __device__ static dim3 group_dim() { return gridDim; }
    __device__ static dim3 block_index() { return blockIdx; }
    __device__ static dim3 thread_index() { return threadIdx; }
    __device__ static bool is_valid() { return true; }
    __attribute__((unavailable("a barrier over the grid needs all workgroups on the GPU at once, and here they run one after the "
                               "other: split the kernel at the barrier"))) __device__ static void sync();
};
typedef grid_group multi_grid_group;
__device__ static inline grid_group this_grid() { return grid_group(); }
__device__ static inline multi_grid_group this_multi_grid() { return multi_grid_group(); }

// Exchanges within a tile of N lanes, N a power of two.
template <unsigned N, class Parent = void> class thread_block_tile : public thread_group {
    static_assert(N > 0 && (N & (N - 1)) == 0 && N <= 32, "a tile has 1, 2, 4, 8, 16 or 32 threads: a wave has 32");
    __device__ static unsigned long long own() { return (N == 32 ? 0xffffffffull : (1ull << N) - 1) << (__lane_id() & ~(N - 1)); }

  public:
    __device__ thread_block_tile() : thread_group(N, 0) {}
    template <class Other> __device__ thread_block_tile(const thread_block_tile<N, Other> &) : thread_group(N, 0) {}
    __device__ static constexpr unsigned size() { return N; }
    __device__ static constexpr unsigned num_threads() { return N; }
    __device__ static unsigned thread_rank() { return __lane_id() % N; }
    __device__ static void sync() { __syncwarp(); }
    __device__ static unsigned meta_group_rank() { return block_rank() / N; }
    __device__ static unsigned meta_group_size() { return (block_threads() + N - 1) / N; }
    template <class T> __device__ static T shfl(T value, int lane) { return __shfl(value, lane, N); }
    template <class T> __device__ static T shfl_down(T value, unsigned by) { return __shfl_down(value, by, N); }
    template <class T> __device__ static T shfl_up(T value, unsigned by) { return __shfl_up(value, by, N); }
    template <class T> __device__ static T shfl_xor(T value, unsigned mask) { return __shfl_xor(value, mask, N); }
    __device__ static unsigned long long ballot(int predicate) {
        return (__ballot(predicate) & own()) >> (__lane_id() & ~(N - 1));
    }
    __device__ static int any(int predicate) { return (__ballot(predicate) & own()) != 0; }
    __device__ static int all(int predicate) { return (__ballot(!predicate) & own()) == 0; }
    template <class T> __device__ static unsigned long long match_any(T value) {
        return (__match_any(value) & own()) >> (__lane_id() & ~(N - 1));
    }
};
template <unsigned N, class G> __device__ static inline thread_block_tile<N, G> tiled_partition(const G &) { return {}; }
__device__ inline thread_group tiled_partition(const thread_group &, unsigned lanes) { return thread_group(lanes, 0); }

// The lanes that are active where it is made.
class coalesced_group : public thread_group {
    __device__ int lane_of(unsigned rank) const {
        unsigned long long left = mask;
        for (; rank > 0; --rank) left &= left - 1;
        return __builtin_ctzll(left);
    }

  public:
    __device__ coalesced_group() : thread_group(32, __activemask()) {}
    __device__ unsigned meta_group_rank() const { return 0; }
    __device__ unsigned meta_group_size() const { return 1; }
    template <class T> __device__ T shfl(T value, int rank) const { return expctl_from_lane(value, lane_of(rank % size())); }
    template <class T> __device__ T shfl_down(T value, unsigned by) const {
        unsigned rank = thread_rank() + by;
        return expctl_from_lane(value, rank < size() ? lane_of(rank) : int(__lane_id()));
    }
    template <class T> __device__ T shfl_up(T value, unsigned by) const {
        unsigned rank = thread_rank();
        return expctl_from_lane(value, rank >= by ? lane_of(rank - by) : int(__lane_id()));
    }
    __device__ int any(int predicate) const { return (__ballot(predicate) & mask) != 0; }
    __device__ int all(int predicate) const { return (__ballot(!predicate) & mask) == 0; }
};
__device__ static inline coalesced_group coalesced_threads() { return coalesced_group(); }

template <class G> __device__ static inline void sync(const G &group) { group.sync(); }
template <class G> __device__ static inline auto group_size(const G &group) { return group.size(); }
template <class G> __device__ static inline auto thread_rank(const G &group) { return group.thread_rank(); }

// What CUDA has in <cooperative_groups/reduce.h> and <cooperative_groups/scan.h>, over a tile.
template <class T> struct plus { __device__ T operator()(T a, T b) const { return a + b; } };
template <class T> struct less { __device__ T operator()(T a, T b) const { return b < a ? b : a; } };
template <class T> struct greater { __device__ T operator()(T a, T b) const { return a < b ? b : a; } };
template <class T> struct bit_and { __device__ T operator()(T a, T b) const { return a & b; } };
template <class T> struct bit_or { __device__ T operator()(T a, T b) const { return a | b; } };
template <class T> struct bit_xor { __device__ T operator()(T a, T b) const { return a ^ b; } };
template <unsigned N, class P, class T, class F>
__device__ static inline T reduce(const thread_block_tile<N, P> &tile, T value, F join) {
    for (unsigned by = N / 2; by > 0; by /= 2) value = join(value, tile.shfl_xor(value, by));
    return value;
}
template <unsigned N, class P, class T, class F = plus<T>>
__device__ static inline T inclusive_scan(const thread_block_tile<N, P> &tile, T value, F join = F()) {
    for (unsigned by = 1; by < N; by *= 2) {
        T before = tile.shfl_up(value, by);
        if (tile.thread_rank() >= by) value = join(before, value);
    }
    return value;
}
template <unsigned N, class P, class T, class F = plus<T>>
__device__ static inline T exclusive_scan(const thread_block_tile<N, P> &tile, T value, F join = F()) {
    T before = tile.shfl_up(inclusive_scan(tile, value, join), 1);
    return tile.thread_rank() == 0 ? T() : before;
}
}  // namespace cooperative_groups
