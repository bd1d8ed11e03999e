from __future__ import annotations

import pytest
import torch

from kernel import op
from kernel.naive import scaled_mm_naive
from kernel.runtime.library import Library, UnknownConfig


@pytest.fixture(autouse=True)
def built(cpu_library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPCTL_KERNEL_LIBRARY", str(cpu_library.path))


def tensors(dtype: torch.dtype, m: int = 33, n: int = 50, k: int = 70) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    a, b = torch.randn(m, k, generator=generator).half(), torch.randn(k, n, generator=generator).to(dtype)
    return a, b, torch.randn(n, generator=generator).half()


@pytest.mark.parametrize(("dtype", "number"), [(torch.float8_e5m2, 1), (torch.float8_e4m3fn, 0)])
@pytest.mark.parametrize("with_bias", [True, False])
def test_agrees_with_the_naive_formulation(dtype: torch.dtype, number: int, with_bias: bool) -> None:
    a, b, bias = tensors(dtype)
    given = bias if with_bias else None
    expected = scaled_mm_naive(a, b, 0.5, given, accumulate=torch.float64)
    packed = op.prepack(b)
    result = op.scaled_mm(a, packed, 0.5, given)
    torch.testing.assert_close(result, expected, rtol=2e-3, atol=1e-3)
    assert torch.equal(result, op.scaled_mm(a, packed.view(torch.uint8), 0.5, given, b_dtype=number))


def test_a_forced_config_is_obeyed_by_the_next_call(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b, _ = tensors(torch.float8_e5m2)
    packed = op.prepack(b)
    before = op.scaled_mm(a, packed, 1.0)
    monkeypatch.setenv("HIP_FORCE_CONFIG", "1,8,2,2,8,2")
    torch.testing.assert_close(op.scaled_mm(a, packed, 1.0), before)
    monkeypatch.setenv("HIP_FORCE_CONFIG", "1,8,2,4,8,2")
    with pytest.raises(UnknownConfig, match="1,8,2,2,8,2"):
        op.scaled_mm(a, packed, 1.0)


def test_traces_without_data() -> None:
    a, b, bias = tensors(torch.float8_e5m2)
    packed = op.prepack(b)
    result = op.scaled_mm(a.to("meta"), packed.to("meta"), 1.0, bias.to("meta"))
    assert (result.device.type, tuple(result.shape), result.dtype) == ("meta", (33, 50), torch.float16)


def test_says_what_was_expected_and_found() -> None:
    a, b, bias = tensors(torch.float8_e5m2)
    packed = op.prepack(b)
    raw = packed.view(torch.uint8)
    with pytest.raises(ValueError, match=r"a: expected dtype float16, found torch.float32"):
        op.scaled_mm(a.float(), packed, 1.0)
    with pytest.raises(ValueError, match=r"b_prepacked: expected dtype .*, found torch.float16"):
        op.scaled_mm(a, packed.half(), 1.0)
    with pytest.raises(ValueError, match=r"b_prepacked: expected shape \(5, N, 16\) for K = 70, found \(4, 50, 16\)"):
        op.scaled_mm(a, packed.view(torch.uint8)[:4].contiguous().view(packed.dtype), 1.0)
    with pytest.raises(ValueError, match=r"b_prepacked: expected shape \(ceil"):
        op.scaled_mm(a, b, 1.0)
    with pytest.raises(ValueError, match=r"b_dtype: expected 0 .*, found None"):
        op.scaled_mm(a, raw, 1.0)
    with pytest.raises(ValueError, match=r"b_dtype: expected None or 1, .*, found 0"):
        op.scaled_mm(a, packed, 1.0, b_dtype=0)
    with pytest.raises(ValueError, match=r"bias: expected shape \(50,\), found \(49,\)"):
        op.scaled_mm(a, packed, 1.0, bias[:49])
    with pytest.raises(ValueError, match=r"a: expected contiguous memory, found strides"):
        op.scaled_mm(a.t().contiguous().t(), packed, 1.0)
    with pytest.raises(ValueError, match=r"b: expected dtype float8"):
        op.prepack(a)
