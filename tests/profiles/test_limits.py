"""Figures that no GPU has: never a traceback, never shown as if they were true."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from expctl.domain.errors import Refused
from expctl.profiles.read_profile import read_profile
from tests.profiles.test_variants import DISPATCHES, SYMBOLS, database, ncu_rows, printed
from tests.refusals import refuses

Show = Callable[..., Any]
HEAD = (
    "Kind,Agent_Id,Kernel_Name,Start_Timestamp,End_Timestamp,LDS_Block_Size,Scratch_Size,VGPR_Count,Accum_VGPR_Count,"
    "SGPR_Count,Workgroup_Size_X,Workgroup_Size_Y,Workgroup_Size_Z,Grid_Size_X,Grid_Size_Y,Grid_Size_Z\n"
)
PLAIN = {"start": 10, "end": 20, "lds": 512, "scratch": 0, "vgpr": 32, "grid": 128}


def trace(path: Path, **other: object) -> Path:
    facts = PLAIN | other
    path.write_text(
        HEAD + "KERNEL_DISPATCH,Agent 1,k,{start},{end},{lds},{scratch},{vgpr},0,16,64,1,1,{grid},1,1\n".format(**facts)
    )
    return path


def of_ncu(path: Path, column: str, text: str) -> Path:
    rows = ncu_rows()
    rows[2][rows[0].index(column)] = text
    path.write_text(printed(rows))
    return path


@pytest.mark.parametrize("digits", [11, 20, 4299, 5000])
def test_an_extent_of_any_length_is_unknown(tmp_path: Path, digits: int) -> None:
    profile = read_profile(of_ncu(tmp_path / "a.csv", "Grid Size", f"({'9' * digits}, 1, 1)"))
    assert sum(kernel.calls for kernel in profile.kernels) == len(ncu_rows()) - 2


@pytest.mark.parametrize("column", ["gpu__time_duration.sum", "launch__registers_per_thread"])
def test_a_metric_that_nothing_has_is_damage(tmp_path: Path, column: str) -> None:
    with pytest.raises(Refused) as refused:
        read_profile(of_ncu(tmp_path / "a.csv", column, "1e300"))
    assert f"{column} of 1e300" in refused.value.found


@pytest.mark.parametrize(
    ("what", "value"),
    [("vgpr", "-5"), ("vgpr", "9" * 25), ("vgpr", "9" * 5000), ("lds", "-512"), ("scratch", "9" * 18), ("grid", "9" * 30)],
)
def test_what_no_launch_has_is_unknown_and_said(tmp_path: Path, what: str, value: str) -> None:
    profile = read_profile(trace(tmp_path / "t.csv", **{what: value}))
    launch = profile.kernels[0].launch
    shown = {"vgpr": launch.vgpr, "lds": launch.lds_bytes, "scratch": launch.scratch_bytes, "grid": launch.grid}
    assert [name for name, each in shown.items() if each is None] == [what]
    assert [note for note in profile.notes if "beyond what any GPU has" in note and note.startswith(what)]


def test_a_kernel_of_a_hundred_years_is_damage(tmp_path: Path) -> None:
    with pytest.raises(Refused) as refused:
        read_profile(trace(tmp_path / "t.csv", start=2**62, end=2**63 - 1))
    assert "a kernel that runs for 4.61e+18 ns" in refused.value.found


@pytest.mark.parametrize("total", ["9" * 30, "9" * 400, "9" * 18])
def test_totals_that_cannot_be(tmp_path: Path, total: str) -> None:
    (tmp_path / "s.csv").write_text(f"Name,Calls,TotalDurationNs\nk,2,{total}\n")
    with refuses("profile-damaged"):
        read_profile(tmp_path / "s.csv")


def test_a_gpu_of_any_size_in_a_database(tmp_path: Path, show: Show) -> None:
    facts = "{" + f'"cu_count": {"9" * 4000}, "max_engine_clk_fcompute": {"9" * 400}' + "}"
    for number, each in enumerate((facts, "[" * 100_000, "7")):
        script = f"UPDATE rocpd_info_agent_GUID SET extdata = '{each}'"
        assert show(database(tmp_path / f"{number}.db", SYMBOLS, DISPATCHES, script), "--json").status == 0


@pytest.mark.parametrize("value", ["NaN", "1e400", "-Infinity", "1e35"])
def test_a_counter_that_is_no_number(tmp_path: Path, value: str) -> None:
    info = '"dispatch_info": {"kernel_id": 1}, "start_timestamp": 1, "end_timestamp": 9'
    counted = '{"dispatch_data": {DATA}, "records": [{"counter_id": 7, "value": VALUE}]}'.replace("DATA", info)
    entry = '{"callback_records": {"counter_collection": [RECORD]}}'.replace("RECORD", counted.replace("VALUE", value))
    (tmp_path / "r.json").write_text('{"rocprofiler-sdk-tool": ' + entry + "}")
    with pytest.raises(Refused) as refused:
        read_profile(tmp_path / "r.json")
    assert refused.value.found.startswith("a counter 7 of ")


ZERO = "INSERT INTO rocpd_kernel_dispatch_GUID VALUES (4, 2, 1, 0, 0, 4), (5, 3, 2, 0, 0, 5)"


def test_times_that_were_not_taken_are_left_out_and_said(tmp_path: Path) -> None:
    """A start of 0 would stretch the run to the machine's whole uptime."""
    event = {"ph": "X", "cat": "kernel", "name": "k", "ts": 1000, "dur": 2, "args": {"device": 0}}
    (tmp_path / "t.json").write_text(json.dumps({"traceEvents": [event, event | {"ts": 0, "dur": 0}]}))
    row = "KERNEL_DISPATCH,Agent 1,k,0,0,512,0,32,0,16,64,1,1,128,1,1\n"
    trace(tmp_path / "t.csv").write_text(trace(tmp_path / "t.csv").read_text() + row)
    with sqlite3.connect(tmp_path / "t.sqlite") as nsys:
        nsys.executescript(
            "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, name TEXT);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (0, 0, 'k'), (100, 150, 'k')"
        )
    nsys.close()
    database(tmp_path / "t.db", SYMBOLS, DISPATCHES, ZERO)
    for name, calls, out in (("t.json", 1, 1), ("t.csv", 1, 1), ("t.sqlite", 1, 1), ("t.db", 3, 2)):
        profile = read_profile(tmp_path / name)
        assert (profile.calls, max(each.idle_percent for each in profile.timelines) < 50) == (calls, True), name
        assert any(f"{out} dispatches end before they begin, or have no times" in note for note in profile.notes), name


def test_a_database_without_one_time_has_no_kernels(tmp_path: Path) -> None:
    nothing = "UPDATE rocpd_kernel_dispatch_GUID SET start = 0, end = 0"
    with pytest.raises(Refused) as refused:
        read_profile(database(tmp_path / "r.db", SYMBOLS, DISPATCHES, nothing))
    assert "no dispatch with times" in refused.value.found


def test_what_the_view_hides_is_of_all_rows(tmp_path: Path) -> None:
    impossible = "INSERT INTO rocpd_kernel_dispatch_GUID VALUES (4, 2, 1, 90, 50, NULL), (5, 2, 1, 700, 800, NULL)"
    notes = read_profile(database(tmp_path / "r.db", SYMBOLS, DISPATCHES, impossible)).notes
    assert any("hides 2 of 5 (" in note for note in notes)


def test_a_copy_that_runs_backwards_takes_nothing_from_another(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "r.sqlite") as nsys:
        nsys.executescript(
            "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, bytes INTEGER, copyKind INTEGER);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (100, 150, 8, 1), (200, 160, 8, 1)"
        )
    nsys.close()
    copies = [{"start_timestamp": 100, "end_timestamp": 150}, {"start_timestamp": 200, "end_timestamp": 160}]
    entry = {"buffer_records": {"memory_copy": copies}}
    (tmp_path / "r.json").write_text(json.dumps({"rocprofiler-sdk-tool": [entry]}))
    table = "Kind,Direction,Start_Timestamp,End_Timestamp\nMEMORY_COPY,H,100,150\nMEMORY_COPY,H,200,160\n"
    (tmp_path / "r.csv").write_text(table)
    for name in ("r.sqlite", "r.json", "r.csv"):
        profile = read_profile(tmp_path / name)
        assert [(each.calls, each.total_ns) for each in profile.copies] == [(1, 50)], name
        assert any("copies: 1 end before they begin" in note for note in profile.notes), name
