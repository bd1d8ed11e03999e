// The configs of a build for sm_90, in the order of their index; config.h says what the numbers mean. Those of RING multiply
// with wgmma (ring.h), the others with mma.sync (tile.h), which takes every shape.
#pragma once

#define SCALED_MM_RING_CONFIGS(X) \
  X(1, 8, 4, 5, 8, 2)   /* 128 x 256, 5 stages, two blocks share A */ \
  X(1, 8, 4, 7, 8, 1)   /* 128 x 128: too few tiles of the first */ \
  X(1, 8, 8, 6, 4, 1)   /*  64 x 128: few rows, and as many bytes of B under way as fit */ \
  X(1, 8, 8, 8, 2, 1)   /*  32 x 128 */ \
  X(1, 8, 8, 9, 1, 1)   /*  16 x 128 */

#define SCALED_MM_MMA_CONFIGS(X) \
  X(1, 8, 2, 2, 8, 2)  /* 128 x 256 */ \
  X(2, 2, 2, 2, 4, 4)  /* 128 x 128, square wave tiles, half the waves */ \
  X(2, 4, 2, 2, 4, 2)  /* 128 x 128 */ \
  X(2, 4, 4, 2, 4, 2)  /* 128 x 128, twice the chunk: half the barriers */ \
  X(1, 4, 2, 2, 4, 2)  /*  64 x 128 */ \
  X(2, 2, 2, 2, 2, 2)  /*  64 x  64: enough blocks for a middling shape */ \
  X(1, 2, 4, 2, 2, 2)  /*  32 x  64: small and thin shapes */

#define SCALED_MM_CONFIGS(X) SCALED_MM_RING_CONFIGS(X) SCALED_MM_MMA_CONFIGS(X)
