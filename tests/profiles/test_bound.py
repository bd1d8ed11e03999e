"""What is said to bound a kernel, on files as the profilers write them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.profiles.torch_traces import Launched, write_trace

Show = Callable[..., Any]
COUNTED = """\
"Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Id","Kernel_Name",\
"Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count","Counter_Name","Counter_Value",\
"Start_Timestamp","End_Timestamp"
"""


def roofline(show: Show, *words: str | Path) -> dict[str, Any]:
    kernels = json.loads(show(*words, "--json").out)["kernels"]
    return {kernel["name"]: kernel["roofline"] for kernel in kernels}


@pytest.mark.parametrize(("groups", "bound"), [(140, "unknown"), (80, "unknown"), (40, "latency-bound")])
def test_140_workgroups_on_148_units_are_no_bound(tmp_path: Path, show: Show, groups: int, bound: str) -> None:
    path = write_trace(tmp_path / "t.json", [Launched(name="k", grid=(groups, 1, 1))])
    found = roofline(show, path)["k"]
    assert (found["bound"], found["fill"]["units_percent"]) == (bound, pytest.approx(100 * groups / 148))
    assert f"{groups} workgroups for 148 SMs" in show(path).out


def counters(path: Path, factor: float) -> Path:
    """A copy of 512 MB and a reading kernel, as rocprofv3 counts them on gfx942; the counters show `factor` of the truth."""
    rows = []
    for number, (name, fetched, written, us) in enumerate((("copy_k", 256e6, 256e6, 150), ("reads", 1e9, 1e6, 250)), 1):
        for counter, value in (("FETCH_SIZE", fetched), ("WRITE_SIZE", written)):
            cells = (number, number, "Agent 1", 1, 9, 9, 1048576, number, name, 256, 0, 0, 32, 0, 48)
            kib = factor * value / 1024
            rows.append(",".join(f'"{cell}"' for cell in (*cells, counter, f"{kib:.6f}", 1000, 1000 + us * 1000)))
    path.write_text(COUNTED + "\n".join(rows) + "\n")
    return path


def test_counted_bytes_are_marked_until_a_known_copy_calibrates_them(tmp_path: Path, show: Show) -> None:
    words = (counters(tmp_path / "1_counter_collection.csv", 1.02), "--arch", "gfx942", "--bandwidth", "5300")
    (tmp_path / "1_agent_info.csv").write_text(AGENT)
    folder = (tmp_path, *words[1:])
    found = roofline(show, *folder)["reads"]
    assert found["bound"] == "memory-bound"
    assert "uncalibrated" in found["reason"]
    found = roofline(show, *folder, "--moves", "copy_k=512000000")["reads"]
    assert (found["bound"], "uncalibrated" in found["reason"]) == ("memory-bound", False)
    assert any("calibrated: 1.02 of the known bytes of copy_k" in text for text in found["from_what"])


def test_counters_that_are_wrong_for_the_copy_bound_nothing(tmp_path: Path, show: Show) -> None:
    counters(tmp_path / "1_counter_collection.csv", 2.0)
    (tmp_path / "1_agent_info.csv").write_text(AGENT)
    words = (tmp_path, "--arch", "gfx942", "--bandwidth", "5300")
    assert roofline(show, *words)["reads"]["bound"] == "memory-bound"
    found = roofline(show, *words, "--moves", "copy_k=512000000")["reads"]
    assert (found["bound"], "wrong for a copy of known size" in found["reason"]) == ("unknown", True)


AGENT = """\
"Node_Id","Logical_Node_Id","Agent_Type","Cpu_Cores_Count","Simd_Count","Max_Waves_Per_Simd","Lds_Size_In_Kb","Num_Xcc",\
"Cu_Count","Max_Engine_Clk_Fcompute","Gfx_Target_Version","Product_Name","Name"
"1","1","GPU","0","1216","8","64","8","304","2100","90402","AMD Instinct MI300X","gfx942"
"""
