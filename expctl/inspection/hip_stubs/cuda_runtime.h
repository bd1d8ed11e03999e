// A CUDA source whose device code is plain compiles for an AMD GPU too: the language is the same.
#pragma once
#include "hip/hip_runtime.h"
