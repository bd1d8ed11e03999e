"""On a GPU: times are those of events, and work that they leave out is seen. Needs torch with a device, and triton."""

from __future__ import annotations

import pytest

from tests.harness.conftest import TEST, TIMED, Serve, changed

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no GPU")
HARNESS = """\
from expctl.harness import Kernel, serve
import torch


class Add(Kernel):
    sizes = {"n=4096": dict(n=1 << 24)}

    def inputs(self, rng, n):
        return torch.randn(n, device="cuda"), torch.randn(n, device="cuda")

    def outputs(self, n):
        return torch.empty(n, device="cuda"),

    def call(self, build, x, y, out):
        build.add(x, y, out)

    def reference(self, x, y):
        return x.double() + y.double()


serve(Add)
"""
BUILD = "import torch\n\n\ndef add(x, y, out):\n    torch.add(x, y, out=out)\n"
TRITON = """\
import triton
import triton.language as tl


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, at < n) + tl.load(y + at, at < n), at < n)


def add(x, y, out):
    add_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, out, x.numel(), BLOCK=1024)
"""
BESIDE = """\
import torch

stream = torch.cuda.Stream()
one = torch.ones(4096, 4096, device="cuda")


def add(x, y, out):
    torch.add(x, y, out=out)
    with torch.cuda.stream(stream):
        for _ in range(20):
            one @ one
"""


@pytest.mark.parametrize("name", ["torch", "triton"])
def test_a_right_build_passes(serve: Serve, name: str) -> None:
    pytest.importorskip(name)
    build = TRITON if name == "triton" else BUILD
    assert serve(TEST, harness=HARNESS, build=build)[0] == 0
    status, said = serve(TIMED, harness=HARNESS, build=build)
    assert status == 0, said[-1]
    assert said[0]["facts"]["times"] == "device_time"
    assert said[1]["outside_ns"] > sum(said[1]["ns"])


@pytest.mark.parametrize("body", ["torch.sub(x, y, out=out)", "torch.add(x[1:], y[1:], out=out[1:])"])
def test_a_wrong_build_is_blamed(serve: Serve, body: str) -> None:
    for requests in (TEST, TIMED):
        assert serve(requests, harness=HARNESS, build=changed(BUILD, "torch.add(x, y, out=out)", body))[0] == 1


def test_work_on_another_stream_is_seen(serve: Serve) -> None:
    status, said = serve(TIMED, harness=HARNESS, build=BESIDE)
    assert status == 1
    assert "more were seen from outside" in said[-1]["reason"]
    assert said[-1]["repeat"]


def test_a_result_on_the_gpu_of_inputs_that_are_not(serve: Serve) -> None:
    harness = changed(HARNESS, 'torch.randn(n, device="cuda"), torch.randn(n, device="cuda")', "torch.randn(n), torch.randn(n)")
    harness = changed(harness, '    def outputs(self, n):\n        return torch.empty(n, device="cuda"),\n\n', "")
    harness = changed(harness, "x, y, out):\n        build.add(x, y, out)", "x, y):\n        return (x + y).cuda()")
    status, said = serve(TEST, harness=harness, build=BUILD)
    assert status == 2
    assert "expected inputs on the GPU" in said[-1]["reason"]
