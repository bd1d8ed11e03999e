// hipcc --offload-arch=gfx1151 -std=c++17 -O3 -fPIC -shared host_hip.hip -o scaled_mm.so
#define SCALED_MM_WITH_HIP_RUNTIME
#include <hip/hip_runtime.h>

#include "host_device.h"
