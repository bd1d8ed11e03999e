// What every thread of a launch runs: `work`, once. Kept apart and as it is: the harness makes a launch slower by a known share
// here (kernel/controls), to see whether it would notice.
#pragma once
#include "../phases.h"

namespace scaled_mm {

template <class Work>
DEVICE void run_block(const Work &work) {
  work();
}

}  // namespace scaled_mm
