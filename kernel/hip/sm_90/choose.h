// Which config suits a shape, where none is forced; for host.h.
#pragma once

namespace scaled_mm {

// Configs from the one that reads A and B least often to the smallest, as indices of configs.h: the first that gives every
// multiprocessor a block is taken, and few rows take the one whose tiles waste the fewest of them.
inline int pick_config(int m, int n) {
  constexpr int kProcessors = 132, kFewRows = 64;
  constexpr int kBySize[] = {3, 4, 5}, kSmallest = 6;
  if (kConfigCount <= kSmallest) return 0;   // a build of one config
  if (m <= kFewRows) return kSmallest;
  for (const int config : kBySize)
    if (static_cast<i64>(blocks(m, block_m_of(config))) * blocks(n, block_n_of(config)) >= kProcessors) return config;
  return kSmallest;
}

}  // namespace scaled_mm
