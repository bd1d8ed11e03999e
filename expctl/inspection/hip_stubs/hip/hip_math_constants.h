// Constants under HIP's names.
#pragma once
#define HIP_INF_F __builtin_huge_valf()
#define HIP_NAN_F __builtin_nanf("")
#define HIP_INF __builtin_huge_val()
#define HIP_NAN __builtin_nan("")
#define HIP_PI_F 3.14159274f
#define HIP_PI 3.1415926535897931
#define HIP_PIO2_F 1.57079637f
#define HIP_MAX_NORMAL_F 3.40282347e38f
#define HIP_L2E_F 1.44269502f
#define HIP_LN2_F 0.693147182f
