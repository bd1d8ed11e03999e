"""Runs of several hosts and ranks: whose GPU `agent 1` and `device 0` are."""

import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from expctl.domain.errors import Refused
from expctl.profiles.read_profile import read_profile

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


@pytest.mark.parametrize(("times", "differs"), [("60", False), ("61", True)])
def test_statistics_of_communication_alone_are_compared(tmp_path: Path, times: str, differs: bool) -> None:
    kernel = "ncclDevKernel_Generic_1(x)"
    write(tmp_path / "1_kernel_stats.csv", f"Name,Calls,TotalDurationNs\n{kernel},1,{times}\n")
    write(tmp_path / "1_kernel_trace.csv", TRACE.format(kernel, 40, 100))
    (note,) = [each for each in read_profile(tmp_path).notes if "1_kernel_stats.csv" in each]
    assert ("differs from the dispatches in 1 of 1" in note) == differs


COUNTED = "Dispatch_Id,Agent_Id,Kernel_Name,Counter_Name,Counter_Value\n"


def test_counters_that_join_no_kernel_are_said(tmp_path: Path) -> None:
    write(tmp_path / "1_kernel_trace.csv", TRACE.format("void foo<int>(float*)", 10, 20))
    write(tmp_path / "1_counter_collection.csv", COUNTED + "1,Agent 1,foo,WAVES,4\n")
    profile = read_profile(tmp_path)
    assert [each.name for each in profile.kernels] == ["void foo<int>(float*)"]
    assert "counters of 1 kernel have no dispatch here: foo" in profile.notes


def test_a_kernel_that_only_a_later_pass_counts_is_said(tmp_path: Path) -> None:
    write(tmp_path / "pass_1" / "1_counter_collection.csv", COUNTED + "1,Agent 1,a,WAVES,4\n")
    rows = "".join(f"{n},Agent 1,{name},HITS,4\n" for n, name in enumerate("abcde"))
    write(tmp_path / "pass_2" / "1_counter_collection.csv", COUNTED + rows)
    assert "counters of 4 kernels have no dispatch here: b, c, d, ..." in read_profile(tmp_path).notes


def test_what_a_folder_has_and_is_not_read_is_said(tmp_path: Path) -> None:
    run = tmp_path / "run"
    write(run / "1_kernel_trace.csv", TRACE.format("k", 10, 20))
    write(tmp_path / "other" / "2_kernel_trace.csv", TRACE.format("k", 30, 40))
    (run / "rank1").symlink_to(tmp_path / "other")
    (run / "self").symlink_to(run)
    (run / "gone.csv").symlink_to(tmp_path / "nowhere")
    os.mkfifo(run / "pipe")
    profile = read_profile(run)
    assert profile.calls == 1
    assert [note for note in profile.notes if note.startswith("left aside")] == [
        "left aside: rank1: a link to a folder, not followed",
        "left aside: self: a link to a folder, not followed",
        "left aside: gone.csv: a link to nothing",
        "left aside: pipe: a pipe or a device",
    ]


def test_a_folder_of_links_alone(tmp_path: Path) -> None:
    (tmp_path / "trace.csv").symlink_to(tmp_path / "nowhere")
    with pytest.raises(Refused) as refused:
        read_profile(tmp_path)
    assert "trace.csv: a link to nothing" in refused.value.found


def test_reports_of_nvidia_are_refused_with_the_command_that_exports_them(tmp_path: Path, show: Callable[..., Any]) -> None:
    (tmp_path / "run.nsys-rep").write_bytes(b"\x00\x01binary")
    (tmp_path / "k.ncu-rep").write_bytes(b"NVR\x00\x01")
    for name, command in (
        ("run.nsys-rep", "nsys export --type sqlite"),
        ("k.ncu-rep", "ncu --import k.ncu-rep --csv --page raw"),
    ):
        shown = show(tmp_path / name)
        assert (shown.status, command in shown.err, name in shown.err) == (1, True, True)
    (tmp_path / "k.ncu-rep").unlink()
    assert "nsys export --type sqlite" in show(tmp_path).err


def test_a_folder_of_rocprof_compute_is_known(tmp_path: Path, show: Callable[..., Any]) -> None:
    """The columns as ROCm Compute Profiler 3 writes them."""
    folder = tmp_path / "workloads" / "vcopy" / "MI300X"
    folder.mkdir(parents=True)
    (folder / "sysinfo.csv").write_text("workload_name,command,ip_blocks,gpu_model\nvcopy,./vcopy,SQ|TCC,MI300X\n")
    (folder / "pmc_perf.csv").write_text(
        "Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR,SGPR,"
        "Kernel_Name,Start_Timestamp,End_Timestamp,SQ_WAVES\n0,4,1048576,256,0,0,8,0,16,vecCopy,1000,9000,16384\n"
    )
    shown = show(tmp_path / "workloads")
    assert shown.status == 1
    assert "a folder of rocprof-compute" in shown.err
    assert "rocprofv3 --kernel-trace" in shown.err
    assert "a table of rocprof v2 or rocprof-compute" in show(folder / "pmc_perf.csv").err
    assert "facts of rocprof-compute" in show(folder / "sysinfo.csv").err


def test_a_run_of_rocprof_compute_that_kept_no_dispatch_is_known(tmp_path: Path, show: Callable[..., Any]) -> None:
    """A filter that matched nothing leaves tables without a row, and no merged one."""
    for name in ("pmc_perf_0.csv", "SQ_LEVEL_WAVES.csv"):
        (tmp_path / name).write_text("Dispatch_ID,Kernel_Name\n")
    assert "a folder of rocprof-compute" in show(tmp_path).err
