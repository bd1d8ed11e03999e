"""Double-precision vector operations and conversions. Rounding is to nearest even and denormals are kept.

The hardware's v_rcp_f64, v_rsq_f64 and v_sqrt_f64 have about 29 wrong bits, which compilers refine by fused multiply-adds; here
they are correctly rounded, but for v_rsq_f64, whose last bit may be wrong. A value that is refined is the same, one that is
used as it is may differ.
"""

import numpy as np

from expctl.gfx11.machine.arrays import Anything
from expctl.gfx11.machine.rounding import fma64, maximum, minimum, to_integer
from expctl.gfx11.vector.float_parts import exponent_of, mantissa_of
from expctl.gfx11.vector.operation import F32, F64, I32, U32, VectorOp, binary, ternary, unary


def _scaled(a: Anything, power: Anything) -> Anything:
    return np.ldexp(a, np.clip(power, -2200, 2200))


def _fraction(a: Anything) -> Anything:
    return np.minimum(a - np.floor(a), np.nextafter(1.0, 0.0))


OPS: dict[str, VectorOp] = {
    "v_add_f64": binary(F64, np.add),
    "v_mul_f64": binary(F64, np.multiply),
    "v_fma_f64": ternary(F64, fma64),
    "v_max_f64": binary(F64, maximum),
    "v_min_f64": binary(F64, minimum),
    "v_ldexp_f64": VectorOp(results=(F64,), sources=(F64, I32), evaluate=_scaled),
    "v_rcp_f64": unary(F64, F64, np.reciprocal),
    "v_rsq_f64": unary(F64, F64, lambda a: 1.0 / np.sqrt(a)),
    "v_sqrt_f64": unary(F64, F64, np.sqrt),
    "v_trunc_f64": unary(F64, F64, np.trunc),
    "v_ceil_f64": unary(F64, F64, np.ceil),
    "v_floor_f64": unary(F64, F64, np.floor),
    "v_rndne_f64": unary(F64, F64, np.rint),
    "v_fract_f64": unary(F64, F64, _fraction),
    "v_frexp_exp_i32_f64": unary(I32, F64, exponent_of),
    "v_frexp_mant_f64": unary(F64, F64, mantissa_of),
    "v_cvt_f64_f32": unary(F64, F32, lambda a: a.astype(np.float64)),
    "v_cvt_f32_f64": unary(F32, F64, lambda a: a.astype(np.float32)),
    "v_cvt_f64_i32": unary(F64, I32, lambda a: a.astype(np.float64)),
    "v_cvt_f64_u32": unary(F64, U32, lambda a: a.astype(np.float64)),
    "v_cvt_i32_f64": unary(I32, F64, lambda a: to_integer(a, -(1 << 31), (1 << 31) - 1).astype(np.int32)),
    "v_cvt_u32_f64": unary(U32, F64, lambda a: to_integer(a, 0, (1 << 32) - 1).astype(np.uint32)),
}
