"""Tensors of torch are inputs, outputs and results as numpy's arrays are."""

from __future__ import annotations

import pytest

from tests.harness.conftest import TEST, TIMED, Serve, changed

pytest.importorskip("torch")
HARNESS = """\
import torch

from expctl.harness import Kernel, serve


class Scale(Kernel):
    sizes = {"n=4096": dict(n=4096)}

    def inputs(self, rng, n):
        return torch.randn(n, dtype=torch.bfloat16), 1.5

    def outputs(self, n):
        return torch.empty(n, dtype=torch.bfloat16),

    def call(self, build, x, by, out):
        build.scale(x, by, out)

    def reference(self, x, by):
        return x.double() * by


serve(Scale)
"""
BUILD = "import torch\n\n\ndef scale(x, by, out):\n    torch.mul(x, by, out=out)\n"


def test_a_right_build_passes(serve: Serve) -> None:
    for requests in (TEST, TIMED):
        status, said = serve(requests, harness=HARNESS, build=BUILD)
        assert status == 0, said[-1]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("torch.mul(x, by * 1.2, out=out)", "relative L2 is"),
        ("torch.mul(x[:-1], by, out=out[:-1])", "result[4095] is nan, still the poison: never written"),
        ("torch.mul(x, by, out=x); out[:] = x", "the call changed input 1"),
    ],
)
def test_a_wrong_build_is_blamed(serve: Serve, body: str, reason: str) -> None:
    status, said = serve(TEST, harness=HARNESS, build=changed(BUILD, "torch.mul(x, by, out=out)", body))
    assert (status, "fault" in said[-1]) == (1, False)
    assert reason in said[-1]["reason"]


def test_a_reference_in_single_precision_is_a_mistake(serve: Serve) -> None:
    status, said = serve(TEST, harness=changed(HARNESS, "x.double()", "x.float()"), build=BUILD)
    assert (status, said[-1]["fault"]) == (2, True)
    assert "bench.py:19, in reference: expected a result in float64" in said[-1]["reason"]
    assert "found float32 (4096,)" in said[-1]["reason"]
