"""Runs of several hosts and ranks: whose GPU `agent 1` and `device 0` are."""

import json
import sqlite3
from pathlib import Path

import pytest

from expctl.profiling.reader import read_profile

AGENTS = '"Node_Id","Logical_Node_Id","Agent_Type","Name","Cu_Count"\n0,0,"CPU","x",0\n1,1,"GPU","{}",{}\n'
TRACE = (
    "Kind,Agent_Id,Kernel_Name,Start_Timestamp,End_Timestamp,VGPR_Count,Accum_VGPR_Count,SGPR_Count\n"
    "KERNEL_DISPATCH,Agent 1,{0},{1},{2},36,4,16\n"
)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize("folders", [("a", "b"), ("", "")])
def test_agents_of_one_name_that_are_two_gpus(tmp_path: Path, folders: tuple[str, str]) -> None:
    """Two hosts; or two processes of one that see different GPUs as their first."""
    for folder, pid, arch, units, start in ((folders[0], 11, "gfx942", 304, 10), (folders[1], 22, "gfx950", 256, 10**12)):
        write(tmp_path / folder / f"{pid}_kernel_trace.csv", TRACE.format(f"k{pid}", start, start + pid))
        write(tmp_path / folder / f"{pid}_agent_info.csv", AGENTS.format(arch, units))
    profile = read_profile(tmp_path)
    assert {each.name: each.launch.vgpr for each in profile.kernels} == {"k11": 40, "k22": 40}
    names = [str(Path(folder, pid)) for folder, pid in zip(folders, ("11", "22"), strict=True)]
    assert {(each.name, each.arch) for each in profile.devices} == {
        (f"{names[0]} agent 1", "gfx942"), (f"{names[1]} agent 1", "gfx950"),
    }  # fmt: skip
    assert [(each.device, each.span_ns) for each in profile.timelines] == [
        (f"{names[0]} agent 1", 11),
        (f"{names[1]} agent 1", 22),
    ]


def test_a_folder_per_host_has_gpus_per_host(tmp_path: Path) -> None:
    for host, start in (("a", 10), ("b", 10**12)):
        write(tmp_path / host / "1_kernel_trace.csv", TRACE.format("k", start, start + 5))
        write(tmp_path / host / "1_agent_info.csv", AGENTS.format("gfx942", 304))
    profile = read_profile(tmp_path)
    assert [(each.device, each.span_ns) for each in profile.timelines] == [("a agent 1", 5), ("b agent 1", 5)]
    assert [each.arch for each in profile.devices] == ["gfx942"]


@pytest.mark.parametrize("inside", ["host", "{}/host"])
def test_processes_of_one_host_share_its_gpus(tmp_path: Path, inside: str) -> None:
    for pid, start in ((1, 10), (2, 30)):
        write(tmp_path / inside.format(pid) / f"{pid}_kernel_trace.csv", TRACE.format("k", start, start + 5))
        write(tmp_path / inside.format(pid) / f"{pid}_agent_info.csv", AGENTS.format("gfx942", 304))
    (timeline,) = read_profile(tmp_path).timelines
    assert (timeline.device, timeline.span_ns, timeline.busy_ns) == ("agent 1", 25, 10)


def test_ranks_whose_files_have_one_name(tmp_path: Path) -> None:
    for rank in range(2):
        event = {"ph": "X", "cat": "kernel", "name": "k", "ts": 1000 * rank, "dur": 2, "args": {"device": 0}}
        write(tmp_path / f"rank{rank}" / "trace.json", json.dumps({"traceEvents": [event]}))
    assert [(each.device, each.span_ns) for each in read_profile(tmp_path).timelines] == [
        ("rank0/trace.json device 0", 2000), ("rank1/trace.json device 0", 2000),
    ]  # fmt: skip


def test_the_clock_of_nsys_begins_with_each_session(tmp_path: Path) -> None:
    for rank in range(2):
        with sqlite3.connect(tmp_path / f"r{rank}.sqlite") as database:
            database.executescript(
                "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, name TEXT);"
                f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({100 + rank}, {150 + rank}, 0, 'k');"
            )
        database.close()
    assert [(each.device, each.busy_ns) for each in read_profile(tmp_path).timelines] == [
        ("r0.sqlite device 0", 50), ("r1.sqlite device 0", 50),
    ]  # fmt: skip


def test_statistics_have_the_counters_beside_them(tmp_path: Path) -> None:
    write(tmp_path / "1_kernel_stats.csv", "Name,Calls,TotalDurationNs\nk,2,60\n")
    head = "Dispatch_Id,Agent_Id,Kernel_Name,Counter_Name,Counter_Value\n"
    write(tmp_path / "1_counter_collection.csv", head + "1,Agent 1,k,WAVES,4\n2,Agent 1,k,WAVES,8\n")
    (kernel,) = read_profile(tmp_path).kernels
    assert (kernel.calls, kernel.total_ns, kernel.counters) == (2, 60, {"WAVES": 6.0})
