"""numpy arrays go to a GPU and back where a C library takes device pointers. The vendors' runtimes are stand-ins here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness.conftest import TEST, TIMED, changed, served

RUNTIME = """\
#include <stdlib.h>
#include <string.h>
#include <time.h>
static double at[9];
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1e3 + t.tv_nsec / 1e6; }
int late;
static int idle(void) { struct timespec t = {0, (MS + late * 900) * 1000000};
  return MS + late && (late = 0, nanosleep(&t, 0)); }
int ALLOC(void **p, size_t n) { *p = malloc(n); return 0; }
int FREE(void *p) { free(p); return 0; }
int H2D(void *to, void *from, size_t n) { memcpy(to, from, n); return 0; }
int D2H(void *to, void *from, size_t n) { memcpy(to, from, n); return 0; }
int FILL(unsigned short *p, unsigned short by, size_t n) { if (n < 9999) while (n--) p[n] = by; return 0; }
int EVENT(void **e, unsigned flags) { static long made; *e = (void *)++made; return 0; }
int RECORD(void *e, void *stream) { at[(long)e] = now(); return 0; }
int ELAPSED(float *ms, void *a, void *b) { *ms = at[(long)b] - at[(long)a]; return 0; }
int WAIT(void) { return idle(); }
int cuInit(unsigned flags) { return 0; }
int cuDeviceGet(int *device, int number) { return 0; }
int cuDevicePrimaryCtxRetain(void **context, int device) { return 0; }
int cuCtxSetCurrent(void *context) { return 0; }
"""
NAMES = {
    "cuda": (
        "libcuda.so.1",
        "cuMemAlloc_v2 cuMemFree_v2 cuMemcpyHtoD_v2 cuMemcpyDtoH_v2 cuMemsetD16_v2 cuEventCreate cuEventRecord "
        "cuEventElapsedTime cuCtxSynchronize",
    ),
    "hip": (
        "libamdhip64.so",
        "hipMalloc hipFree hipMemcpyHtoD hipMemcpyDtoH hipMemsetD16 hipEventCreateWithFlags hipEventRecord "
        "hipEventElapsedTime hipDeviceSynchronize",
    ),
}
WORDS = ["ALLOC", "FREE", "H2D", "D2H", "FILL", "EVENT", "RECORD", "ELAPSED", "WAIT"]
SCALE = "void scale(const float *x, float *out, long n) { for (long i = 0; i < n; i++) out[i] = 2 * x[i]; }\n"
HARNESS = """\
from expctl.harness import CLibrary, Kernel, serve
import numpy as np


class Scale(Kernel):
    sizes = {"n=4096": dict(n=4096)}
    device = "VENDOR"
    library = CLibrary(scale="void(const f32*, f32*, i64)")

    def inputs(self, rng, n):
        return rng.standard_normal(n, np.float32),

    def outputs(self, n):
        return np.empty(n, np.float32),

    def call(self, build, x, out):
        for _ in range(200):
            build.scale(x, out, x.size)

    def reference(self, x):
        return 2 * x.astype(np.float64)


serve(Scale)
"""


def compiled(folder: Path, text: str, name: str, *flags: str) -> Path:
    (folder / f"{name}.c").write_text(text)
    argv = [sys.executable, "-m", "ziglang", "cc", "-shared", "-fPIC", "-w", *flags, f"{name}.c", "-o", name]
    subprocess.run(argv, check=True, capture_output=True, cwd=folder)
    return folder / name


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")
    vendor, wait_ms = request.param
    library, names = NAMES[vendor]
    defined = [f"-D{word}={name}" for word, name in zip(WORDS, names.split(), strict=True)]
    compiled(tmp_path, RUNTIME, library, f"-DMS={wait_ms}", *defined)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    (tmp_path / "bench.py").write_text(changed(HARNESS, "VENDOR", vendor))
    return tmp_path


@pytest.mark.parametrize("bench", [("cuda", 0), ("hip", 0)], indirect=True)
def test_a_build_that_takes_device_pointers(bench: Path) -> None:
    artifact = str(compiled(bench, SCALE, "scale.so"))
    assert served(bench, TEST, artifact=artifact)[0] == 0
    status, said = served(bench, TIMED, artifact=artifact)
    assert status == 0, said[-1]
    assert said[0]["facts"]["times"] == "device_time"
    assert said[1]["outside_ns"] >= sum(said[1]["ns"])
    wrong = str(compiled(bench, changed(SCALE, "i < n", "i < n - 1"), "wrong.so"))
    status, said = served(bench, TEST, artifact=wrong)
    assert status == 1
    assert "result[4095] is nan, still the poison: never written" in said[-1]["reason"]
    changes = str(compiled(bench, changed(changed(SCALE, "const ", ""), "out[i] =", "out[i] = x[i] ="), "changes.so"))
    assert "the call changed input 1" in served(bench, TEST, artifact=changes)[1][-1]["reason"]


@pytest.mark.parametrize("bench", [("hip", 20)], indirect=True)
def test_a_slow_device_is_no_hidden_work_but_work_beside_the_events_is(bench: Path) -> None:
    status, said = served(bench, TIMED, artifact=str(compiled(bench, SCALE, "scale.so")))
    assert status == 0, said[-1]
    beside = "extern int late;\n" + changed(SCALE, "{ for", "{ late = 1; for")
    status, said = served(bench, TIMED, artifact=str(compiled(bench, beside, "late.so", "libamdhip64.so")))
    assert status == 1
    assert "more were seen from outside" in said[-1]["reason"]
    assert said[-1]["repeat"]
