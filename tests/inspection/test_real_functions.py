"""Mathematics of our HIP headers, compiled for the host and held to the C library in double precision and beyond."""

from __future__ import annotations

import ctypes
import math
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from expctl.inspection.device_compiler import STUBS

pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")
np = pytest.importorskip("numpy")

HEAD = """\
#define EXPCTL_DEVICE static inline
#define __builtin_amdgcn_rsqf(x) (1.0f / __builtin_sqrtf(x))
#include "hip/expctl_real.h"
"""
ONE = 'extern "C" void {name}_{T}(const {T} *x, {T} *y, int n) {{ for (int i = 0; i < n; ++i) y[i] = expctl::{name}(x[i]); }}\n'
TWO = (
    'extern "C" void {name}_{T}(const {T} *x, const {T} *z, {T} *y, int n) '
    "{{ for (int i = 0; i < n; ++i) y[i] = expctl::{name}(x[i], z[i]); }}\n"
)
EPSILON = {"float": 2.0**-24, "double": 2.0**-53}
Case = tuple[Callable[..., float], float, float, float, float]
"""(the exact function, from, to, largest error in units of the last place: single, double)."""
UNARY: dict[str, Case] = {
    "exp": (math.exp, -80, 80, 4, 4), "exp2": (lambda x: 2.0**x, -100, 100, 4, 4), "exp10": (lambda x: 10.0**x, -30, 30, 8, 8),
    "expm1": (math.expm1, -3, 3, 6, 6), "log": (math.log, 1e-3, 1e6, 4, 4), "log2": (math.log2, 1e-3, 1e6, 4, 6),
    "log10": (math.log10, 1e-3, 1e6, 4, 6), "log1p": (math.log1p, -0.9, 10, 8, 8), "sin": (math.sin, -6, 6, 4, 4),
    "cos": (math.cos, -6, 6, 4, 4), "tan": (math.tan, -1.4, 1.4, 8, 8), "asin": (math.asin, -1, 1, 8, 8),
    "acos": (math.acos, -1, 0.99, 8, 8), "atan": (math.atan, -50, 50, 6, 6), "sinh": (math.sinh, -20, 20, 30, 30),
    "cosh": (math.cosh, -20, 20, 30, 30), "tanh": (math.tanh, -5, 5, 8, 8), "asinh": (math.asinh, -50, 50, 10, 10),
    "acosh": (math.acosh, 1.01, 50, 16, 16), "atanh": (math.atanh, -0.99, 0.99, 16, 16),
    "cbrt": (lambda x: math.copysign(abs(x) ** (1 / 3), x), -1e6, 1e6, 4, 6), "erf": (math.erf, -4, 4, 6, 20),
    "erfc": (math.erfc, -2, 8, 20, 800), "normcdf": (lambda x: 0.5 * math.erfc(-x / math.sqrt(2)), -4, 4, 40, 800),
    "tgamma": (math.gamma, 0.5, 15, 200, 300), "rsqrt": (lambda x: x**-0.5, 1e-3, 1e3, 4, 4),
    "sinpi": (lambda x: math.sin(math.pi * x), -0.49, 0.49, 4, 4),
    "cospi": (lambda x: math.cos(math.pi * x), -0.24, 0.24, 4, 4),
}  # fmt: skip
BINARY: dict[str, Case] = {
    "pow": (math.pow, 0.1, 10, 16, 40), "atan2": (math.atan2, 0.1, 10, 6, 6), "hypot": (math.hypot, 0.1, 10, 4, 4),
    "fmod": (math.fmod, 0.1, 10, 0, 0), "remainder": (math.remainder, 0.1, 10, 0, 0),
    "fdim": (lambda x, y: max(x - y, 0), 0.1, 10, 1, 1),
}  # fmt: skip


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("real")
    text = "".join(ONE.format(name=name, T=kind) for name in UNARY for kind in EPSILON)
    text += "".join(TWO.format(name=name, T=kind) for name in BINARY for kind in EPSILON)
    (folder / "real.cpp").write_text(HEAD + text)
    argv = [sys.executable, "-m", "ziglang", "cc", "-shared", "-fPIC", "-O1", "-std=c++17", "-w", f"-I{STUBS}"]
    subprocess.run([*argv, str(folder / "real.cpp"), "-o", str(folder / "real.so")], check=True)
    return ctypes.CDLL(str(folder / "real.so"))


def called(library: ctypes.CDLL, name: str, kind: str, *arguments: Any) -> Any:
    kept = [np.ascontiguousarray(each, dtype=kind.replace("float", "f4").replace("double", "f8")) for each in arguments]
    out = np.empty_like(kept[0])
    getattr(library, f"{name}_{kind}")(*(each.ctypes.data_as(ctypes.c_void_p) for each in (*kept, out)), len(out))
    return out, kept


def check(name: str, kind: str, case: Case, library: ctypes.CDLL, count: int) -> None:
    exact, low, high, *most = case
    rng = np.random.default_rng(5)
    got, given = called(library, name, kind, *(rng.uniform(low, high, 4000) for _ in range(count)))
    wanted = np.array([exact(*map(float, each)) for each in zip(*given, strict=True)])
    size = np.maximum(np.abs(wanted), 2.0**-126 if kind == "float" else 2.0**-1022)
    error = np.abs(got.astype("f8") - wanted) / size / (2 * EPSILON[kind])
    assert error.max() <= most[kind == "double"], (given[0][error.argmax()], got[error.argmax()], wanted[error.argmax()])


@pytest.mark.parametrize("kind", EPSILON)
@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_number(library: ctypes.CDLL, name: str, kind: str) -> None:
    check(name, kind, UNARY[name], library, 1)


@pytest.mark.parametrize("kind", EPSILON)
@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_numbers(library: ctypes.CDLL, name: str, kind: str) -> None:
    check(name, kind, BINARY[name], library, 2)


INF, NAN = math.inf, math.nan
SPECIAL = [
    ("exp", [INF, -INF, NAN, 1e4, -1e4], [INF, 0, NAN, INF, 0]), ("log", [0, INF, -1, NAN, 1], [-INF, INF, NAN, NAN, 0]),
    ("atan", [INF, -INF, 0, -0.0], [math.pi / 2, -math.pi / 2, 0, -0.0]),
    ("cbrt", [0, INF, -INF, NAN, -8], [0, INF, -INF, NAN, -2]),
    ("tanh", [INF, -INF, 0], [1, -1, 0]), ("erf", [INF, -INF, 0], [1, -1, 0]), ("erfc", [INF, -INF], [0, 2]),
    ("log1p", [-1, INF, 1e-30], [-INF, INF, 1e-30]), ("expm1", [INF, -INF, 1e-30], [INF, -1, 1e-30]),
    ("sin", [INF, 0], [NAN, 0]), ("asin", [2, 1], [NAN, math.pi / 2]), ("acosh", [0, 1], [NAN, 0]),
    ("tgamma", [0, -1, INF, 5], [INF, NAN, INF, 24]),
]  # fmt: skip


@pytest.mark.parametrize("kind", EPSILON)
@pytest.mark.parametrize(("name", "x", "wanted"), SPECIAL)
def test_ends_of_the_range(library: ctypes.CDLL, name: str, x: list[float], wanted: list[float], kind: str) -> None:
    got, _ = called(library, name, kind, x)
    np.testing.assert_allclose(got, np.array(wanted), rtol=2e-5 if kind == "float" else 1e-12)
    assert np.signbit(got[~np.isnan(got)]).tolist() == np.signbit(np.array(wanted)[~np.isnan(wanted)]).tolist()


@pytest.mark.parametrize("kind", EPSILON)
def test_powers_at_the_ends(library: ctypes.CDLL, kind: str) -> None:
    bases = [0.0, -0.0, 1, -1, 2, -2, 0.5, INF, -INF, NAN, 10]
    powers = [0, 1, -1, 2, -3, 0.5, INF, -INF, NAN, 400, -400]
    pairs = [(x, y) for x in bases for y in powers]

    def exact(x: float, y: float) -> float:
        try:
            return math.pow(x, y)
        except OverflowError:
            return -INF if x < 0 and y % 2 else INF
        except ValueError:  # of zero or a negative number
            return NAN if x else math.copysign(INF, x if y % 2 else 1)

    got, given = called(library, "pow", kind, [x for x, _ in pairs], [y for _, y in pairs])
    with np.errstate(over="ignore"):
        wanted = np.array([exact(float(x), float(y)) for x, y in zip(*given, strict=True)]).astype(got.dtype)
    np.testing.assert_allclose(got, wanted, rtol=2e-6 if kind == "float" else 1e-12)


@pytest.mark.parametrize(("kind", "most"), [("float", 1e5), ("double", 1e8)])
@pytest.mark.parametrize("name", ["sin", "cos"])
def test_angles_of_many_turns(library: ctypes.CDLL, name: str, kind: str, most: float) -> None:
    got, given = called(library, name, kind, np.random.default_rng(6).uniform(-most, most, 4000))
    wanted = np.array([getattr(math, name)(float(x)) for x in given[0]])
    assert np.abs(got - wanted).max() <= 8 * EPSILON[kind]
