// Which config suits a shape, where none is forced; for host.h.
#pragma once

namespace scaled_mm {

// The work that a config really does for a shape, edges included, with a handicap for small tiles: they read A and B
// more often. A config that leaves most of the chip idle pays for that too.
inline double config_cost(int config, int m, int n) {
  constexpr int kEnoughBlocks = 40;
  const double block_m = block_m_of(config), block_n = block_n_of(config);
  const double count = static_cast<double>(blocks(m, block_m_of(config))) * blocks(n, block_n_of(config));
  const double idle = count < kEnoughBlocks ? kEnoughBlocks / count : 1.0;
  return count * idle * (block_m * block_n + 24.0 * (block_m + block_n));
}

inline int pick_config(int m, int n) {
  // Several waves of blocks fill the chip: 128 x 128 with the long chunk, which has half the barriers.
  constexpr int kLongChunk = 3, kManyBlocks = 512;
  if (static_cast<double>(blocks(m, block_m_of(kLongChunk))) * blocks(n, block_n_of(kLongChunk)) >= kManyBlocks) return kLongChunk;
  int best = 0;
  for (int config = 1; config < kConfigCount; ++config)
    if (config_cost(config, m, n) < config_cost(best, m, n)) best = config;
  return best;
}

}  // namespace scaled_mm
