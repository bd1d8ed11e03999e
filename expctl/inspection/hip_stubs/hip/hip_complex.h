// Complex numbers as pairs, as <hip/hip_complex.h> has them.
#pragma once

#include "hip_runtime.h"

typedef float2 hipFloatComplex;
typedef double2 hipDoubleComplex;
typedef hipFloatComplex hipComplex;

#define EXPCTL_COMPLEX(C, T, suffix, root) \
    EXPCTL_BOTH T hipCreal##suffix(C z) { return z.x; } \
    EXPCTL_BOTH T hipCimag##suffix(C z) { return z.y; } \
    EXPCTL_BOTH C hipConj##suffix(C z) { return C(z.x, -z.y); } \
    EXPCTL_BOTH C hipCadd##suffix(C a, C b) { return C(a.x + b.x, a.y + b.y); } \
    EXPCTL_BOTH C hipCsub##suffix(C a, C b) { return C(a.x - b.x, a.y - b.y); } \
    EXPCTL_BOTH C hipCmul##suffix(C a, C b) { return C(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); } \
    EXPCTL_BOTH C hipCdiv##suffix(C a, C b) { \
        T size = b.x * b.x + b.y * b.y; \
        return C((a.x * b.x + a.y * b.y) / size, (a.y * b.x - a.x * b.y) / size); \
    } \
    EXPCTL_BOTH C hipCfma##suffix(C a, C b, C c) { C product = hipCmul##suffix(a, b); return hipCadd##suffix(product, c); } \
    EXPCTL_BOTH T hipCabs##suffix(C z) { return root(z.x * z.x + z.y * z.y); }
EXPCTL_COMPLEX(hipFloatComplex, float, f, __builtin_sqrtf)
EXPCTL_COMPLEX(hipDoubleComplex, double, , __builtin_sqrt)
#undef EXPCTL_COMPLEX
EXPCTL_BOTH hipFloatComplex make_hipFloatComplex(float x, float y) { return hipFloatComplex(x, y); }
EXPCTL_BOTH hipDoubleComplex make_hipDoubleComplex(double x, double y) { return hipDoubleComplex(x, y); }
EXPCTL_BOTH hipComplex make_hipComplex(float x, float y) { return hipComplex(x, y); }
