// Which config suits a shape, where none is forced; for host.h.
#pragma once

namespace scaled_mm {

// The work that a config really does for a shape, edges included, with a handicap for small tiles: they read A and B
// more often. On a GPU a config that leaves most of it idle pays for that too.
inline double config_cost(int config, int m, int n) {
  constexpr int kEnoughBlocks = 40;   // the compute units of gfx1151
  const double block_m = block_m_of(config), block_n = block_n_of(config);
  const double count = static_cast<double>(blocks(m, block_m_of(config))) * blocks(n, block_n_of(config));
  const double idle = !ON_CPU && count < kEnoughBlocks ? kEnoughBlocks / count : 1.0;
  return count * idle * (block_m * block_n + 24.0 * (block_m + block_n));
}

inline int pick_config(int m, int n) {
  int best = 0;
  for (int config = 1; config < kConfigCount; ++config)
    if (config_cost(config, m, n) < config_cost(best, m, n)) best = config;
  return best;
}

}  // namespace scaled_mm
