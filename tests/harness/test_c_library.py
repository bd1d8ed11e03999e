"""A C library with a signature for each function: what fits it is called, what does not is named."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from expctl.harness.c_library import CBuild, CLibrary, parse_signature
from expctl.harness.mistake import Mistake
from expctl.harness.report import Fault
from tests.harness.conftest import TEST, TIMED, changed, served

SOURCE = """\
double dot(const double *x, const double *y, long n) { double s = 0; while (n--) s += x[n] * y[n]; return s; }
int scale(float *x, unsigned char by, int n) { while (n--) x[n] *= by; return n + 1; }
double _Z4plusdd(double a, double b) { return a + b; }
"""
DOT = "f64(const f64*, const f64*, i64)"
PAGE = Path(__file__).parents[2] / "docs/HARNESS.md"
EXAMPLE = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)[0]
HARNESS = EXAMPLE.replace("n=1048576", "n=4096").replace("1 << 20", "4096")
X, Y = np.arange(4.0), np.ones(4)


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")
    folder = tmp_path_factory.mktemp("c")
    (folder / "dot.c").write_text(SOURCE)
    argv = [sys.executable, "-m", "ziglang", "cc", "-shared", "-fPIC", str(folder / "dot.c"), "-o", str(folder / "dot.so")]
    subprocess.run(argv, check=True, capture_output=True)
    return folder / "dot.so"


@pytest.fixture
def build(library: Path) -> CBuild:
    return CLibrary(dot=DOT, scale="int(float *x, unsigned char by, int n)").load(library)


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        (DOT, "f64 const f64* const f64* i64"),
        ("double dot_of(const double *x, double *y, size_t n)", "f64 const f64* f64* u64"),
        ("double (const double *x, double *restrict y, size_t n);", "f64 const f64* f64* u64"),
        ("void()", "void"),
        ("void (void)", "void"),
        ("unsigned long long (__half *a, const void *b, int32_t, unsigned char c)", "u64 f16* const void* i32 u8"),
        ("f64(f64**)", ""),
        ("f16(f32)", ""),
        ("f64(real*)", ""),
        ("f64", ""),
    ],
)
def test_a_signature_is_short_or_in_c(text: str, parsed: str) -> None:
    if not parsed:
        with pytest.raises(Mistake, match="expected"):
            parse_signature("dot", text)
    else:
        found = parse_signature("dot", text)
        assert " ".join([found.result, *map(str, found.parameters)]) == parsed


def test_calls_checked_and_prepared(build: CBuild) -> None:
    assert build.dot(X, Y, 4) == 6
    build.prepare([X, Y])
    assert build.dot(X, Y, 4) == 6
    assert build.dot(X * 2, Y, 4) == 12  # an array that was not prepared


WRONG: dict[str, tuple[Any, ...]] = {
    "expected 3 arguments for dot(const f64*, const f64*, i64), found 2 arguments": (X, Y),
    "expected an array for const f64* as argument 1 of dot, found int 4; are arguments swapped?": (4, X, Y),
    "expected i64 as argument 3 of dot, found float64 (4,); are arguments swapped?": (X, Y, Y),
    "expected an array of float64 for const f64* as argument 2 of dot, found float32 (4,)": (X, Y.astype("f4"), 4),
    "expected a contiguous array for const f64* as argument 1 of dot": (X[::2], Y, 2),
    "expected i64 as argument 3 of dot, found float 2.5": (X, Y, 2.5),
}


@pytest.mark.parametrize("message", WRONG)
def test_arguments_that_do_not_fit(build: CBuild, message: str) -> None:
    with pytest.raises(Mistake) as raised:
        build.dot(*WRONG[message])
    assert str(raised.value).startswith(message)


def test_an_integer_must_fit_its_type(build: CBuild) -> None:
    with pytest.raises(Mistake, match="expected u8 as argument 2 of scale, found int 256"):
        build.scale(np.ones(2, np.float32), 256, 2)


@pytest.mark.parametrize(
    ("name", "found"),
    [("dott", "the nearest is dot"), ("plus", '_Z4plusdd, its name in C\\+\\+: write extern "C"'), ("zzz", "no such symbol")],
)
def test_a_function_that_is_not_there(library: Path, name: str, found: str) -> None:
    with pytest.raises(Mistake, match=found):
        CLibrary(**{name: DOT}).load(library)


def test_a_function_without_a_signature(build: CBuild) -> None:
    with pytest.raises(Mistake, match=r"expected one of the functions of `library`: dot, scale, found build\.sum"):
        build.sum(X)


def test_a_file_that_is_no_library(tmp_path: Path) -> None:
    (tmp_path / "no.so").write_text("text")
    with pytest.raises(Fault, match=r"no\.so can't be loaded as a C library"):
        CLibrary(dot=DOT).load(tmp_path / "no.so")


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("", "", ""),
        ('dot="f64', 'dto="f64', "bench.py:7, in library: expected a function dto in dot.so, found no such symbol"),
        ("f64(const", "real(const", "bench.py:7, in library: expected a type such as f64"),
        ("(x, y, x.size)", "(x, y)", "bench.py:13, in call: expected 3 arguments for dot"),
        ("(x, y, x.size)", "(x, x.size, y)", "bench.py:13, in call: expected an array for const f64*"),
    ],
)
def test_the_line_of_the_harness_is_named(library: Path, tmp_path: Path, before: str, after: str, message: str) -> None:
    (tmp_path / "bench.py").write_text(changed(HARNESS, before, after) if before else HARNESS)
    for requests in (TEST, TIMED):
        status, said = served(tmp_path, requests, artifact=str(library))
        assert status == (2 if message else 0), said[-1]
        assert message in said[-1].get("reason", "")
