#include <hip/hip_runtime.h>

// One generation of the Game of Life on a torus, 32 cells in a word. A wave
// handles a word: lane L owns bit L, and __ballot puts the new word together.
#define WAVES 4

__device__ inline int cell(const unsigned* grid, int words, int row, int col)
{
    return (int)((grid[row * words + (col >> 5)] >> (col & 31)) & 1u);
}

__global__ void __launch_bounds__(32 * WAVES)
life_step(const unsigned* __restrict__ now,
          unsigned* __restrict__ next,
          unsigned* __restrict__ alive,
          int rows, int words)
{
    const int lane = threadIdx.x & 31;
    const int wave = blockIdx.x * WAVES + (threadIdx.x >> 5);
    if (wave >= rows * words)      // the whole wave leaves together
        return;

    const int row = wave / words;
    const int word = wave - row * words;
    const int cols = words * 32;
    const int col = word * 32 + lane;

    const int up = row == 0 ? rows - 1 : row - 1;
    const int down = row == rows - 1 ? 0 : row + 1;
    const int left = col == 0 ? cols - 1 : col - 1;
    const int right = col == cols - 1 ? 0 : col + 1;

    const int around = cell(now, words, up, left) + cell(now, words, up, col)
                     + cell(now, words, up, right) + cell(now, words, row, left)
                     + cell(now, words, row, right) + cell(now, words, down, left)
                     + cell(now, words, down, col) + cell(now, words, down, right);
    const int me = cell(now, words, row, col);

    const unsigned bits = (unsigned)__ballot(around == 3 || (around == 2 && me));
    if (lane == 0) {
        next[row * words + word] = bits;
        atomicAdd(alive, (unsigned)__builtin_popcount(bits));
    }
}
