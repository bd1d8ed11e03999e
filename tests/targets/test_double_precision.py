"""Mathematics of doubles is compiled as such or refused by name: never narrowed to float in silence."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from expctl.inspection.device_compiler import Options, compile_source, wheel_flags
from tests.refusals import refuses

pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")

HEAD = "#include <hip/hip_runtime.h>\n__global__ void k(double *d, float *f, int *n, long long *l) { int i = threadIdx.x;\n"


def assembly(tmp_path: Path, *statements: str) -> str:
    path = tmp_path / "k.hip"
    path.write_text(HEAD + "\n".join(statements) + "\n}\n")
    return compile_source(path, Options(arch="gfx1151")).assembly


UNARY = ("exp", "exp2", "log", "log2", "log10", "sin", "cos", "tanh")
NARROWED = {
    **{f"d[i] = {name}(d[i]);": name for name in (*UNARY, "rsqrt")},
    **{f"d[i] = std::{name}(d[i]);": name for name in UNARY},
    "d[i] = exp(n[i]);": "exp",
    "d[i] = std::sin(l[i]);": "sin",
    "d[i] = pow(d[i], d[i]);": "pow",
    "d[i] = std::pow(d[i], 2.0);": "pow",
    "d[i] = pow(d[i], 2);": "pow",
    "d[i] = pow(f[i], 0.5);": "pow",
    "d[i] = tan(d[i]);": "tan",
    "d[i] = std::erf(d[i]);": "erf",
    "d[i] = log1p(d[i]);": "log1p",
    "d[i] = cbrt(d[i]);": "cbrt",
    "d[i] = fmod(d[i], 3.0);": "fmod",
    "d[i] = hypot(d[i], d[i]);": "hypot",
}


@pytest.mark.parametrize("statement", ["d[i] = std::exp(d[i]);", "d[i] = tan(d[i]);"])
def test_what_needs_a_library_is_refused_with_its_line(tmp_path: Path, statement: str) -> None:
    with refuses("does-not-compile") as refusal:
        assembly(tmp_path, statement)
    assert re.search(rf"k\.hip:3:\d+: error: .*({named(statement)})", refusal.value.found)


@pytest.mark.parametrize("attribute", [True, False], ids=["refused by our headers", "declared nowhere"])
def test_what_needs_a_library_is_an_error_that_names_it(tmp_path: Path, attribute: bool) -> None:
    """All in two compilations: the compiler comes to our headers' refusals only where nothing else is wrong."""
    narrowed = [each for each in NARROWED if (NARROWED[each] in (*UNARY, "rsqrt", "pow")) == attribute]
    path = tmp_path / "k.hip"
    path.write_text(HEAD + "\n".join(each.replace("d[i] =", f"d[i + {at}] =") for at, each in enumerate(narrowed)) + "\n}\n")
    argv = [sys.executable, "-m", "ziglang", "clang", *wheel_flags("gfx1151"), "-std=c++17", "-ferror-limit=0", "-S"]
    ran = subprocess.run([*argv, str(path), "-o", str(tmp_path / "k.s")], capture_output=True, text=True)
    assert ran.returncode != 0
    errors = dict(re.findall(r"k\.hip:(\d+):\d+: error: (.*)", ran.stderr))
    for at, statement in enumerate(narrowed):
        assert re.search(named(statement), errors.pop(str(at + 3), "")), statement
    assert errors == {}


def named(statement: str) -> str:
    """How an error names the function of `statement`."""
    return rf"'{NARROWED[statement]}'|: {NARROWED[statement]} of double needs"


def test_what_is_exact_stays_double(tmp_path: Path) -> None:
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
    calls = [f"f[i + {at}] = {where}{name}(f[i]);" for at, name in enumerate(UNARY) for where in ("", "std::")]
    powers = ("f[i] = pow(f[i], f[i + 1]);", "f[i] = std::pow(f[i], 2.0f);", "f[i] = pow(f[i], 2) + std::pow(f[i], 3);")
    rest = ("f[i] = std::abs(f[i]) + abs(f[i + 1]) + std::fmax(f[i], 1.0f) + rsqrt(f[i]);", "n[i] = isnan(f[i]);")
    text = assembly(tmp_path, *calls, *powers, *rest)
    assert "_f32" in text
    assert "_f64" not in text
