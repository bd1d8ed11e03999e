"""From kernels to torch's operators, modules and layers: a real BERT on an H100, and traces built in its form."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from expctl.profiles.model.attribution import AttributeTo, attributed
from expctl.profiles.read_profile import read_profile
from tests.profiles.torch_traces import Launched, write_trace

Show = Callable[..., Any]
BERT = "torch_cuda12.4_h100.json"


def test_layers_and_operators_of_a_real_model(golden: Callable[[str], Path]) -> None:
    profile = read_profile(golden(BERT))
    layers = attributed(profile.kernels, AttributeTo.LAYER, profile.total_ns)
    assert [each.name for each in layers if each.name.startswith("BertLayer")] == [
        each.name for each in layers if each.name[:-1] == "BertLayer_"
    ]
    assert {each.name for each in layers} >= {f"BertLayer_{number}" for number in range(4)}
    assert {each.calls for each in layers if each.name.startswith("BertLayer")} == {12}
    assert sum(each.total_ns for each in layers) == profile.total_ns
    assert layers[-1].cumulative_percent == pytest.approx(100)
    operators = {each.name: each for each in attributed(profile.kernels, AttributeTo.OPERATOR, profile.total_ns)}
    assert operators["aten::addmm"].calls == 26
    assert operators["aten::_flash_attention_forward"].calls == 4
    modules = [each.name for each in attributed(profile.kernels, AttributeTo.MODULE, profile.total_ns)]
    assert modules[0] == "BertLMHeadModel_0/BertOnlyMLMHead_0/BertLMPredictionHead_0/Linear_25"


def test_flop_from_recorded_shapes_give_roofline_without_size(golden: Callable[[str], Path], show: Show) -> None:
    kernels = json.loads(show(golden(BERT), "--json").out)["kernels"]
    (head,) = [each for each in kernels if "256x128_64x3" in each["name"]]
    assert head["origins"][0]["flop"] == 2 * 141 * 512 * 30522
    assert head["roofline"]["tflops"] == pytest.approx(2 * 141 * 512 * 30522 / 41280 / 1e3)
    assert head["roofline"]["kind"] == "bf16"
    assert "FLOP: recorded shapes of aten::addmm, bf16" in head["roofline"]["from_what"]
    (flash,) = [each for each in kernels if "flash_fwd" in each["name"]]
    assert flash["origins"][0]["flop"] == 4 * 8 * 141 * 141 * 64


def test_the_grid_allows_the_occupancy_that_kineto_estimates(golden: Callable[[str], Path], show: Show) -> None:
    """Kineto's own `est. achieved occupancy %`; it is 0 for blocks of more than 48 KiB, which need a permission it ignores."""
    document = json.loads(golden(BERT).read_text())
    estimates = {
        event["name"]: event["args"]["est. achieved occupancy %"]
        for event in document["traceEvents"]
        if event.get("cat") == "kernel" and event["args"]["blocks per SM"] < 1 and event["args"]["shared memory"] <= 48 * 1024
    }
    kernels = json.loads(show(golden(BERT), "--json").out)["kernels"]
    compared = [
        (each["roofline"]["fill"]["waves_percent"], estimates[each["name"]])
        for each in kernels
        if each["name"] in estimates and len(each["launches"]) == 1
    ]
    assert len(compared) >= 4
    assert all(abs(mine - its) <= 0.5 + 1e-6 for mine, its in compared), compared


CLASSES: list[tuple[str, list[tuple[str, list[list[int]], list[str]]], str]] = [
    ("k1", [("aten::linear", [], []), ("aten::addmm", [], [])], "GEMM"),
    ("implicit_thing", [("aten::conv2d", [], []), ("aten::cudnn_convolution", [], [])], "convolution"),
    ("void cudnn::ops::nchwToNhwcKernel<float>(int)", [("aten::cudnn_convolution", [], [])], "copy"),
    ("indexSelectLargeIndex", [("aten::embedding", [], []), ("aten::index_select", [], [])], "embedding"),
    ("k2", [("aten::_fft_r2c", [], [])], "FFT"),
    ("my_flash_attention", [("vllm::unified_thing", [], [])], "attention"),
    ("k3", [("vllm::unified_thing", [], [])], "other"),
    ("softmax_warp_forward", [("aten::scaled_dot_product_attention", [], []), ("aten::_softmax", [], [])], "normalisation"),
]


def test_the_operator_decides_before_the_name(tmp_path: Path, show: Show) -> None:
    path = write_trace(tmp_path / "t.json", [Launched(name=name, operators=chain) for name, chain, _ in CLASSES])
    found = {each["name"]: each["class"] for each in json.loads(show(path, "--json").out)["kernels"]}
    assert found == {name: kind for name, _, kind in CLASSES}


def test_helpers_of_one_operator_get_none_of_its_work(tmp_path: Path) -> None:
    """A product in two kernels: the longer one multiplies, the other adds up its parts."""
    shapes, types = [[512, 1024], [1024, 256]], ["c10::Half", "c10::Half"]
    path = write_trace(tmp_path / "t.json", [Launched(name="main", operators=[("aten::mm", shapes, types)])])
    document = json.loads(path.read_text())
    events = document["traceEvents"]
    launch, kernel = (next(each for each in events if each["cat"] == kind) for kind in ("cuda_runtime", "kernel"))
    launch["args"]["correlation"] = 2
    helper = json.loads(json.dumps(kernel)) | {"name": "splitKreduce_kernel", "ts": kernel["ts"] + 60, "dur": 5.0}
    helper["args"]["correlation"] = 2
    events += [helper, {**launch, "args": {"correlation": 1}}]
    path.write_text(json.dumps(document))
    found = {each.name: each for each in read_profile(path).kernels}
    assert found["main"].origins[0].flop == 2 * 512 * 1024 * 256
    assert found["splitKreduce_kernel"].origins[0].flop is None
    assert found["splitKreduce_kernel"].origins[0].operator == "aten::mm"


def test_a_trace_without_operators_says_what_would_record_them(golden: Callable[[str], Path], show: Show) -> None:
    shown = show(golden("torch_rocm6.4_mi210.json"), "--by", "layer")
    assert (shown.status, "with_modules=True" in shown.err) == (2, True)


def test_by_layer_in_the_terminal(golden: Callable[[str], Path], show: Show) -> None:
    lines = show(golden(BERT), "--by", "layer").out.splitlines()
    assert lines[0].split() == ["calls", "total", "share", "sum", "TFLOP/s", "layer"]
    assert lines[1].split()[-1] == "BertLayer_0"
    assert show(golden(BERT), "--by", "tensor").status == 2


def test_unidentified_time_stands_on_top_and_much_of_it_is_mended_first(tmp_path: Path, show: Show) -> None:
    few = write_trace(tmp_path / "few.json", [Launched(name="gemm", us=61), Launched(name="mystery", us=39)])
    many = write_trace(tmp_path / "many.json", [Launched(name="gemm", us=59), Launched(name="mystery", us=41)])
    assert "unidentified: 39.00 % of the time\n" in show(few).out
    assert "unidentified: 41.00 % of the time; mend the profile first" in show(many).out
    assert json.loads(show(many, "--json").out)["unidentified_percent"] == pytest.approx(41)
