// Half precision under CUDA's name of the header.
#pragma once
#include "hip/hip_fp16.h"
