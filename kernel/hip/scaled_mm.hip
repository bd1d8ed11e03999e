// Device code alone, for gfx11 without ROCm (clang -x hip --cuda-device-only): what the static and emulated checks read.
#include "kernels_gpu.h"
