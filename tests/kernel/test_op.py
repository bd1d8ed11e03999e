"""The operator on every device that is here; its 118 products are those of the harness's test."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

from benchmarks.operator import cases
from kernel import op
from kernel.naive import scaled_mm_naive
from kernel.operator import builds
from kernel.operator.devices import target_of
from kernel.runtime.build import BuildError, command
from kernel.runtime.library import Library, UnknownConfig

Compute = Callable[[Tensor], Tensor]
GPU = torch.device("cuda", 0)


def why_no_gpu() -> str:
    if not torch.cuda.is_available():
        return "torch finds no GPU"
    try:
        command(target_of(GPU), Path("scaled_mm.so"))
    except (BuildError, ValueError) as reason:
        return "" if os.environ.get(builds.VARIABLE) else str(reason)
    return ""


NO_GPU = why_no_gpu()
on_gpu = pytest.mark.skipif(bool(NO_GPU), reason=NO_GPU)
DEVICES = [pytest.param("cpu", id="cpu"), pytest.param("cuda:0", id="gpu", marks=on_gpu)]


@pytest.fixture(autouse=True)
def built(cpu_library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """The operator takes the builds of the session: the GPU's is that of the environment, or in the user's cache."""
    given = os.environ.get(builds.VARIABLE)
    gpu = [] if NO_GPU else [given or str(builds.kept(target_of(GPU)))]
    monkeypatch.setenv(builds.VARIABLE, os.pathsep.join([str(cpu_library.path), *gpu]))


def tensors(dtype: torch.dtype, device: str, m: int = 33, n: int = 50, k: int = 70) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(1)
    a, b = torch.randn(m, k, generator=generator).half(), torch.randn(k, n, generator=generator).to(dtype)
    return a.to(device), b.to(device), torch.randn(n, generator=generator).half().to(device)


def exact(a: Tensor, b: Tensor, scale: float, bias: Tensor | None = None) -> Tensor:
    return scaled_mm_naive(a, b, scale, bias, accumulate=torch.float64)


def assert_near(found: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(found, expected, rtol=2e-3, atol=1e-3, equal_nan=True)


@pytest.mark.parametrize("device", DEVICES)
def test_every_product_of_the_harness_is_right(device: str) -> None:
    wrong = failures(torch.device(device), op.scaled_mm)
    assert not wrong
    assert len(cases.cases_of(torch.device(device))) >= 118


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")  # torch's own
@pytest.mark.parametrize("device", DEVICES)
def test_every_product_is_right_compiled(device: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    wrong = failures(torch.device(device), cases.compiled)
    assert not wrong


@on_gpu
def test_every_product_is_right_in_a_cuda_graph() -> None:
    wrong = failures(GPU, cases.captured)
    assert not wrong


def failures(device: torch.device, call: cases.Call) -> dict[str, str]:
    judged = {case.name: cases.check(case, device, call).failure for case in cases.cases_of(device)}
    return {name: failure for name, failure in judged.items() if failure}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("dtype", "number"), [(torch.float8_e5m2, 1), (torch.float8_e4m3fn, 0)])
@pytest.mark.parametrize("with_bias", [True, False])
def test_agrees_with_the_naive_formulation(dtype: torch.dtype, number: int, with_bias: bool, device: str) -> None:
    a, b, bias = tensors(dtype, device)
    given = bias if with_bias else None
    packed = op.prepack(b)
    result = op.scaled_mm(a, packed, 0.5, given)
    assert_near(result, exact(a, b, 0.5, given))
    assert torch.equal(result, op.scaled_mm(a, packed.view(torch.uint8), 0.5, given, b_dtype=number))
    assert (result.device, result.dtype, result.stride()) == (a.device, torch.float16, (50, 1))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 65504.0])
def test_what_is_not_a_number_stays_in_its_row(value: float, device: str) -> None:
    a, b, bias = tensors(torch.float8_e5m2, device)
    a[7, 69] = value
    expected = exact(a, b, 4.0, bias)
    result = op.scaled_mm(a, op.prepack(b), 4.0, bias)
    assert_near(result, expected)
    assert (~result.isfinite()).any(dim=1).nonzero().flatten().tolist() == [7]


@pytest.mark.parametrize("device", DEVICES)
def test_operands_may_begin_anywhere_in_their_storage(device: str) -> None:
    a, b, bias = tensors(torch.float8_e5m2, device, m=40, k=64)
    whole = torch.cat([a.flatten()[:1], a.flatten()])
    shifted = whole[1:].view(40, 64)  # 2 bytes off what vectors of 16 are aligned to
    assert_near(op.scaled_mm(shifted, op.prepack(b), 1.0, bias), exact(a, b, 1.0, bias))
    assert_near(op.scaled_mm(a[3:], op.prepack(b), 1.0, bias), exact(a[3:], b, 1.0, bias))
    assert_near(op.scaled_mm(a[:1].t().t(), op.prepack(b[:, :1]), 1), exact(a[:1], b[:, :1], 1.0))


@pytest.mark.parametrize("device", DEVICES)
def test_packs_on_the_device_of_b_whatever_its_strides(device: str) -> None:
    _, b, _ = tensors(torch.float8_e4m3fn, device)
    packed = op.prepack(b)
    assert (packed.device, packed.dtype, packed.dim(), tuple(packed.shape[1:])) == (b.device, b.dtype, 3, (50, 16))
    raw = packed.view(torch.uint8)
    if device == "cpu":  # a GPU's build may have an order of its own
        assert torch.equal(raw.permute(0, 2, 1).reshape(80, 50)[:70], b.view(torch.uint8))
        assert not raw[-1, :, 6:].any()
    across = b.view(torch.uint8).t().contiguous().view(b.dtype).t()
    assert torch.equal(op.prepack(across).view(torch.uint8), raw)


@pytest.mark.parametrize("device", DEVICES)
def test_a_forced_config_is_obeyed_by_the_next_call(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b, _ = tensors(torch.float8_e5m2, device)
    packed = op.prepack(b)
    before = op.scaled_mm(a, packed, 1.0)
    monkeypatch.setenv("HIP_FORCE_CONFIG", "1,8,2,2,8,2")
    torch.testing.assert_close(op.scaled_mm(a, packed, 1.0), before)
    for wrong in ("1,8,2,4,8,2", "fast"):
        monkeypatch.setenv("HIP_FORCE_CONFIG", wrong)
        with pytest.raises(UnknownConfig, match="1,8,2,2,8,2"):
            op.scaled_mm(a, packed, 1.0)
    monkeypatch.delenv("HIP_FORCE_CONFIG")
    assert torch.equal(op.scaled_mm(a, packed, 1.0), before)


@pytest.mark.parametrize("device", DEVICES)
def test_traces_without_data(device: str) -> None:
    a, b, bias = tensors(torch.float8_e5m2, device)
    packed = op.prepack(b)
    with torch._subclasses.FakeTensorMode() as mode:
        fake = op.scaled_mm(mode.from_tensor(a), mode.from_tensor(packed), 1, mode.from_tensor(bias))
    meta = op.scaled_mm(a.to("meta"), packed.to("meta"), 1.0, bias.to("meta"))
    for result in (fake, meta):
        assert (tuple(result.shape), result.dtype, result.stride()) == ((33, 50), torch.float16, (50, 1))
    assert (fake.device, meta.device.type) == (a.device, "meta")


@pytest.mark.parametrize("device", DEVICES)
def test_torch_knows_all_of_the_operator(device: str) -> None:
    a, b, bias = tensors(torch.float8_e5m2, device)
    checks = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")
    raw = op.prepack(b).view(torch.uint8)  # opcheck computes with its inputs, which torch can't do in fp8
    torch.library.opcheck(torch.ops.expctl.scaled_mm_prepacked.default, (a, raw, 0.5, bias, 1), test_utils=checks)


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")  # torch's own
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compiles_whole_for_any_number_of_rows(
    backend: str, device: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if backend == "inductor" and device == "cpu" and shutil.which("g++") is None:
        pytest.skip("inductor needs g++ for the CPU")
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    a, b, bias = tensors(torch.float8_e5m2, device)
    packed = op.prepack(b)

    @torch.compile(fullgraph=True, dynamic=True, backend=backend)
    def layer(a: Tensor) -> Tensor:
        return op.scaled_mm(a.t().contiguous().t().contiguous() * 2, packed, 0.5, bias).relu()

    for rows in (33, 17, 2):
        assert_near(layer(a[:rows]), exact(a[:rows] * 2, b, 0.5, bias).relu())


@pytest.mark.parametrize("device", DEVICES)
def test_maps_over_a_batch(device: str) -> None:
    a, b, bias = tensors(torch.float8_e5m2, device)
    packed, batch = op.prepack(b), torch.stack([a, -a])
    result = torch.vmap(lambda each: op.scaled_mm(each, packed, 1.0, bias))(batch)
    assert torch.equal(result[1], op.scaled_mm(-a, packed, 1.0, bias))


@pytest.mark.parametrize("device", DEVICES)
def test_has_no_gradient_and_says_so(device: str) -> None:
    a, b, bias = tensors(torch.float8_e5m2, device)
    packed = op.prepack(b)
    for wants in (a, bias):
        wants.requires_grad_()
        with pytest.raises(NotImplementedError, match="no gradient: call it under"):
            op.scaled_mm(a, packed, 1.0, bias)
        with torch.no_grad():
            assert not op.scaled_mm(a, packed, 1.0, bias).requires_grad
        wants.requires_grad_(False)


@pytest.mark.parametrize("device", DEVICES)
def test_says_what_was_expected_and_found(device: str) -> None:
    a, b, bias = tensors(torch.float8_e5m2, device)
    packed = op.prepack(b)
    raw = packed.view(torch.uint8)
    other = torch.device("cpu" if device != "cpu" else "meta")

    def refused(text: str, call: Callable[[], object]) -> None:
        with pytest.raises(ValueError, match=text):
            call()

    refused("a: expected dtype float16, found torch.float32", lambda: op.scaled_mm(a.float(), packed, 1.0))
    refused(r"a: expected shape \(M, K\), found \(70,\)", lambda: op.scaled_mm(a[0], packed, 1.0))
    refused("a: expected contiguous memory, found strides", lambda: op.scaled_mm(a.t().contiguous().t(), packed, 1.0))
    refused("a and b_prepacked: expected M, N and K of at least 1", lambda: op.scaled_mm(a[:0], packed, 1.0))
    refused("b_prepacked: expected dtype .*, found torch.float16", lambda: op.scaled_mm(a, packed.half(), 1.0))
    refused(
        r"b_prepacked: expected shape \(5, N, 16\) for K = 70, found \(4, 50, 16\)",
        lambda: op.scaled_mm(a, raw[:4].view(packed.dtype), 1.0),
    )
    refused(r"b_prepacked: expected shape \(ceil", lambda: op.scaled_mm(a, b, 1.0))
    refused(
        "b_prepacked: expected contiguous",
        lambda: op.scaled_mm(a, raw.transpose(0, 1).contiguous().transpose(0, 1), 1.0, None, 1),
    )
    refused(f"b_prepacked: expected device {device}, as a is on", lambda: op.scaled_mm(a, packed.to(other), 1.0))
    refused("b_dtype: expected 0 .*, found None", lambda: op.scaled_mm(a, raw, 1.0))
    refused("b_dtype: expected 0 .*, found 2", lambda: op.scaled_mm(a, raw, 1.0, None, 2))
    refused("b_dtype: expected None or 1, .*, found 0", lambda: op.scaled_mm(a, packed, 1.0, b_dtype=0))
    refused(r"bias: expected shape \(50,\), found \(49,\)", lambda: op.scaled_mm(a, packed, 1.0, bias[:49]))
    refused("bias: expected dtype float16", lambda: op.scaled_mm(a, packed, 1.0, bias.float()))
    refused("bias: expected contiguous memory", lambda: op.scaled_mm(a, packed, 1.0, bias.repeat_interleave(2)[::2]))
    refused(f"bias: expected device {device}, as a is on", lambda: op.scaled_mm(a, packed, 1.0, bias.to(other)))
    refused("scale: expected a number", lambda: op.scaled_mm(a, packed, torch.tensor(1.0), bias))  # type: ignore[arg-type]
    refused("b: expected dtype float8", lambda: op.prepack(a))
    refused(r"b: expected shape \(K, N\)", lambda: op.prepack(packed))


@on_gpu
def test_runs_on_the_current_stream_and_waits_for_nothing() -> None:
    a, b, bias = tensors(torch.float8_e5m2, "cuda")
    packed, expected = op.prepack(b), exact(a, b, 1.0, bias)
    op.scaled_mm(a, packed, 1.0, bias)
    side, given = torch.cuda.Stream(), torch.zeros_like(a)
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        torch.cuda._sleep(500_000_000)
        given.copy_(a)
        result = op.scaled_mm(given, packed, 1.0, bias)
        assert not side.query()
    side.synchronize()
    assert_near(result, expected)
