// Which config suits a shape, where none is forced; for host.h.
#pragma once

// A build of one config (config.h) has one for mma.sync.
#ifndef SCALED_MM_MMA_CONFIGS
#define SCALED_MM_RING_CONFIGS(X)
#define SCALED_MM_MMA_CONFIGS(X) SCALED_MM_CONFIGS(X)
#endif

namespace scaled_mm {

#define SCALED_MM_ONE(...) +1
constexpr int kRingConfigs = 0 SCALED_MM_RING_CONFIGS(SCALED_MM_ONE);   // the first of them

// The configs for mma.sync from the one that reads A and B least often to the smallest, counted from kRingConfigs: the first
// that gives every multiprocessor a block is taken, and few rows take the one whose tiles waste the fewest of them.
inline int pick_mma_config(int m, int n) {
  constexpr int kProcessors = 132, kFewRows = 64;
  constexpr int kBySize[] = {kRingConfigs + 3, kRingConfigs + 4, kRingConfigs + 5}, kSmallest = kRingConfigs + 6;
  if (kConfigCount <= kSmallest) return 0;   // a build of one config
  if (m <= kFewRows) return kSmallest;
  for (const int config : kBySize)
    if (static_cast<i64>(blocks(m, block_m_of(config))) * blocks(n, block_n_of(config)) >= kProcessors) return config;
  return kSmallest;
}

// Few rows take the tile that wastes the fewest; the widest one wants enough tiles for every multiprocessor.
inline int pick_config(int m, int n) {
  constexpr int kWidest = 0, kSmaller = 1, kFewRows[] = {4, 3, 2}, kProcessors = 132;
  if (kRingConfigs == 0) return pick_mma_config(m, n);
  for (const int config : kFewRows)
    if (m <= block_m_of(config)) return config;
  const i64 tiles = static_cast<i64>(blocks(m, block_m_of(kWidest))) * blocks(n, block_n_of(kWidest));
  return tiles >= kProcessors ? kWidest : kSmaller;
}

}  // namespace scaled_mm
