"""Mathematics of doubles is compiled as such: never narrowed to float in silence. That of floats has no doubles in it."""

from pathlib import Path

import pytest

from expctl.inspection.device_compiler import Options, compile_source

pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")

HEAD = "#include <hip/hip_runtime.h>\n__global__ void k(double *d, float *f, int *n, long long *l) { int i = threadIdx.x;\n"
NAMES = (
    "exp", "exp2", "exp10", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh",
    "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "lgamma", "tgamma", "rsqrt",
)  # fmt: skip
IN_STD = [each for each in NAMES if each not in ("exp10", "rsqrt")]
STATEMENTS = [
    *(f"d[i] = {name}(d[i + {at}]);" for at, name in enumerate(NAMES)),
    *(f"d[i] = std::{name}(d[i + {at}]);" for at, name in enumerate(IN_STD)),
    "d[i] = exp(n[i]) + std::sin(l[i]) + pow(d[i], d[i + 1]) + std::pow(d[i + 2], 2.0) + pow(d[i + 3], 2);",
    "d[i] = std::tanh(n[i]);",
    "d[i] = fmod(d[i], 3.0) + hypot(d[i + 1], d[i + 2]) + std::atan2(d[i + 3], 1) + remainder(d[i + 4], d[i + 5]);",
]


def assembly(tmp_path: Path, *statements: str) -> str:
    path = tmp_path / "k.hip"
    path.write_text(HEAD + "\n".join(statements) + "\n}\n")
    return compile_source(path, Options(arch="gfx1151")).assembly


@pytest.mark.parametrize("statement", STATEMENTS)
def test_doubles_stay_double(tmp_path: Path, statement: str) -> None:
    text = assembly(tmp_path, statement)
    assert "_f64" in text
    assert "v_cvt_f32_f64" not in text
    assert "_f32" not in text
    assert "s_swappc" not in text


def test_a_float_and_a_double_give_a_double(tmp_path: Path) -> None:
    text = assembly(tmp_path, "d[i] = pow(f[i], 0.5) + fmax(f[i + 1], d[i]);")
    assert "v_cvt_f64_f32" in text
    assert "v_cvt_f32_f64" not in text


def test_what_is_exact_is_an_instruction(tmp_path: Path) -> None:
    statements = (
        "d[i] = std::fma(d[i], d[i + 1], d[i + 2]);",
        "d[i + 9] = fmax(f[i], d[i]);",
        "d[i + 10] = std::fmin(d[i], d[i + 5]);",
        "d[i + 11] = sqrt(n[i]) + std::abs(d[i + 7]) + abs(d[i + 8]);",
        "n[i + 12] = isnan(d[i]) + isinf(d[i + 1]) + isfinite(d[i + 2]);",
        "l[i] = abs(l[i]) + std::abs(n[i]);",
    )
    text = assembly(tmp_path, *statements)
    for mnemonic in ("v_fma_f64", "v_max_f64", "v_min_f64", "v_rsq_f64", "v_cvt_f64_i32", "v_cmp_class_f64"):
        assert mnemonic in text
    assert "v_cvt_f32_f64" not in text


def test_floats_stay_float(tmp_path: Path) -> None:
    calls = [f"f[i + {at}] = {name}(f[i]);" for at, name in enumerate(NAMES)]
    calls += [f"f[i + {at}] = std::{name}(f[i]);" for at, name in enumerate(IN_STD)]
    calls += [f"f[i + {at}] = {name}f(f[i]);" for at, name in enumerate(NAMES)]
    powers = ("f[i] = pow(f[i], f[i + 1]);", "f[i] = std::pow(f[i], 2.0f);", "f[i] = pow(f[i], 2) + std::pow(f[i], 3);")
    rest = ("f[i] = std::abs(f[i]) + abs(f[i + 1]) + std::fmax(f[i], 1.0f) + rsqrt(f[i]);", "n[i] = isnan(f[i]);")
    text = assembly(tmp_path, *calls, *powers, *rest)
    assert "_f32" in text
    assert "_f64" not in text
