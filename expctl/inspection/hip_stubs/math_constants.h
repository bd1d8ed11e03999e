// Constants under CUDA's names.
#pragma once
#define CUDART_INF_F __builtin_huge_valf()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_INF __builtin_huge_val()
#define CUDART_NAN __builtin_nan("")
#define CUDART_PI_F 3.14159274f
#define CUDART_PI 3.1415926535897931
#define CUDART_PIO2_F 1.57079637f
#define CUDART_PIO2 1.5707963267948966
#define CUDART_MAX_NORMAL_F 3.40282347e38f
#define CUDART_SQRT_TWO_F 1.41421354f
#define CUDART_L2E_F 1.44269502f
#define CUDART_LN2_F 0.693147182f
