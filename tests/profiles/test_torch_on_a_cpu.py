"""A trace of torch.profiler without a GPU: the time of each operator without those that it calls, the share of each class."""

import json
from pathlib import Path
from typing import Any

import pytest

from expctl.domain.errors import Refused
from expctl.domain.experiment.record import Fact
from expctl.domain.verdict.samples import Side
from expctl.profiles.read_profile import read_profile
from expctl.profiles.step_profiles import StepProfiles


def event(name: str, start: float, duration: float, *, thread: int = 1, category: str = "cpu_op") -> dict[str, Any]:
    return {"ph": "X", "cat": category, "name": name, "pid": 7, "tid": thread, "ts": start, "dur": duration}


NESTED = (
    event("aten::linear", 0.0, 100.0),
    event("aten::t", 1.0, 4.0),
    event("aten::mm", 10.0, 80.0),
    event("aten::add", 100.0, 20.0),
    event("aten::mm", 0.0, 40.0, thread=2),
    event("step", 0.0, 200.0, category="user_annotation"),
)


def written(folder: Path, *events: dict[str, Any], devices: list[Any] | None = ()) -> Path:  # type: ignore[assignment]
    facts: dict[str, Any] = {} if devices is None else {"deviceProperties": list(devices)}
    file = folder / "trace.json"
    file.write_text(json.dumps({**facts, "traceEvents": list(events)}))
    return file


def test_what_an_operator_calls_is_no_part_of_its_time(tmp_path: Path) -> None:
    profile = read_profile(written(tmp_path, *NESTED))
    spent = {kernel.name: (kernel.calls, kernel.total_ns) for kernel in profile.kernels}
    assert spent == {
        "aten::mm": (2, 120_000),
        "aten::add": (1, 20_000),
        "aten::linear": (1, 16_000),
        "aten::t": (1, 4_000),
    }
    assert any("no GPU" in note for note in profile.notes)


@pytest.mark.parametrize(
    ("events", "devices"),
    [
        (NESTED, None),  # a tool that says nothing of devices may have left out the GPU
        (NESTED, [{"id": 0, "name": "AMD Instinct MI300X"}]),  # there is a GPU that wasn't traced
        ((event("step", 0, 5, category="user_annotation"),), ()),
    ],
)
def test_a_trace_that_only_lacks_its_kernels_is_refused(tmp_path: Path, events: Any, devices: Any) -> None:
    with pytest.raises(Refused, match=r"without a kernel|no kernel"):
        read_profile(written(tmp_path, *events, devices=devices))


def test_kernels_of_a_gpu_are_read_alone(tmp_path: Path) -> None:
    gpu = event("flash_fwd", 10.0, 30.0, category="kernel")
    profile = read_profile(written(tmp_path, *NESTED, gpu))
    assert [kernel.name for kernel in profile.kernels] == ["flash_fwd"]


def test_a_record_keeps_the_share_of_each_class(tmp_path: Path) -> None:
    profiles = StepProfiles(tmp_path / "profiles")
    folder = profiles.fresh("cpu", Side.CANDIDATE) / "0"
    folder.mkdir()
    written(folder, *NESTED)
    facts: dict[str, Fact] = {fact.name: fact for fact in profiles.facts("cpu", Side.CANDIDATE, "")}
    shares = {name.removeprefix("share of "): fact.value for name, fact in facts.items() if name.startswith("share of ")}
    assert shares == {"GEMM": 85.0, "elementwise": 12.5, "other": 2.5}
    assert profiles.calls("cpu", Side.CANDIDATE)["aten::mm"] == 2
    assert profiles.calls("cpu", Side.BASELINE) == {}
