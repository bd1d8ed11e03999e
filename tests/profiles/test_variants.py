"""What other versions and other options write: built to their documented columns, since no such file is at hand."""

import csv
import gzip
import io
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from expctl.domain.errors import Refused
from expctl.profiles.model.kernel_profile import GridUnit, Profile
from expctl.profiles.read_profile import read_profile
from tests.refusals import refuses

GOLDEN = Path(__file__).parent / "golden"
Show = Callable[..., Any]
SYMBOLS = """
    CREATE TABLE rocpd_info_kernel_symbol_GUID (id INTEGER PRIMARY KEY, display_name TEXT, arch_vgpr_count INTEGER,
        accum_vgpr_count INTEGER);
    INSERT INTO rocpd_info_kernel_symbol_GUID VALUES (1, 'gemm', 32, 0), (2, 'cast', 8, 0);
    CREATE TABLE rocpd_info_agent_GUID (id INTEGER PRIMARY KEY, type TEXT, absolute_index INTEGER, name TEXT, extdata TEXT);
    INSERT INTO rocpd_info_agent_GUID VALUES (1, 'CPU', 0, 'x', '{}'), (2, 'GPU', 1, 'gfx90a', '{}'),
        (3, 'GPU', 2, 'gfx942', '{}');
"""
DISPATCHES = """
    CREATE TABLE rocpd_kernel_dispatch_GUID (id INTEGER PRIMARY KEY, agent_id INTEGER, kernel_id INTEGER, start INTEGER,
        end INTEGER, event_id INTEGER);
    INSERT INTO rocpd_kernel_dispatch_GUID VALUES (1, 2, 1, 100, 400, 1), (2, 2, 2, 500, 550, 2), (3, 3, 1, 100, 300, 3);
"""
TRACKS = """
    CREATE TABLE rocpd_track_GUID (id INTEGER PRIMARY KEY, agent_id INTEGER, queue_id INTEGER);
    INSERT INTO rocpd_track_GUID VALUES (1, NULL, NULL), (2, 2, 1), (3, 2, 2), (4, 3, 1);
    CREATE TABLE rocpd_kernel_dispatch_GUID (id INTEGER PRIMARY KEY, track_id INTEGER, kernel_id INTEGER, start INTEGER,
        end INTEGER);
    INSERT INTO rocpd_kernel_dispatch_GUID VALUES (1, 2, 1, 100, 400), (2, 3, 2, 500, 550), (3, 4, 1, 100, 300);
"""


def database(path: Path, *scripts: str, ending: str = "_aa") -> Path:
    with sqlite3.connect(path) as connection:
        for script in scripts:
            connection.executescript(script.replace("_GUID", ending))
    connection.close()
    return path


def figures(path: Path) -> dict[str, tuple[int, int | None]]:
    return {kernel.name: (kernel.calls, kernel.total_ns) for kernel in read_profile(path).kernels}


@pytest.mark.parametrize("dispatches", [DISPATCHES, TRACKS], ids=["agents", "tracks"])
def test_a_dispatch_names_its_gpu_or_a_track_that_does(tmp_path: Path, dispatches: str) -> None:
    profile = read_profile(database(tmp_path / "r.db", SYMBOLS, dispatches))
    assert [(each.device, each.dispatches, each.busy_ns) for each in profile.timelines] == [
        ("agent 1", 2, 350),
        ("agent 2", 1, 200),
    ]
    assert [device.arch for device in profile.devices] == ["gfx90a", "gfx942"]
    assert {kernel.name: kernel.calls for kernel in profile.kernels} == {"gemm": 2, "cast": 1}


def test_a_merged_database_has_tables_of_each_process(tmp_path: Path) -> None:
    path = database(tmp_path / "merged.db", SYMBOLS, DISPATCHES, "CREATE TABLE rocpd_kernel_dispatch_arg_GUID (id INTEGER)")
    database(path, SYMBOLS, DISPATCHES, ending="_bb")
    assert figures(path) == {"gemm": (4, 1000), "cast": (2, 100)}


def test_equal_figures_of_two_processes_are_two_notes(tmp_path: Path) -> None:
    nameless = DISPATCHES.replace("(2, 2, 2, 500", "(2, 2, 9, 500")
    path = database(tmp_path / "merged.db", SYMBOLS, nameless)
    notes = read_profile(database(path, SYMBOLS, nameless, ending="_bb")).notes
    assert [note.partition("list ")[2] for note in notes if note.startswith("names: 1 ")] == ["(process aa)", "(process bb)"]


def test_generated_columns_and_names_that_are_no_text(tmp_path: Path) -> None:
    script = DISPATCHES.replace("event_id INTEGER", "event_id INTEGER, d GENERATED ALWAYS AS (end - start)")
    script = script.replace("_GUID VALUES", "_GUID (id, agent_id, kernel_id, start, end, event_id) VALUES")
    blob = "UPDATE rocpd_info_kernel_symbol_GUID SET display_name = x'ff41' WHERE id = 2"
    assert figures(database(tmp_path / "r.db", SYMBOLS, script, blob))["gemm"] == (2, 500)


def test_a_dispatch_that_is_replayed_to_be_counted_is_one_call(tmp_path: Path) -> None:
    replays = """
        ALTER TABLE rocpd_kernel_dispatch_GUID ADD COLUMN replay_pass INTEGER;
        UPDATE rocpd_kernel_dispatch_GUID SET replay_pass = 0;
        INSERT INTO rocpd_kernel_dispatch_GUID SELECT id + 3, agent_id, kernel_id, start + 1000, end + 1000, event_id + 3, 1
            FROM rocpd_kernel_dispatch_GUID;
        CREATE TABLE rocpd_info_pmc_GUID (id INTEGER, name TEXT);
        CREATE TABLE rocpd_pmc_event_GUID (id INTEGER, event_id INTEGER, pmc_id INTEGER, value REAL, sample_id INTEGER);
        INSERT INTO rocpd_info_pmc_GUID VALUES (1, 'SQ_WAVES'), (2, 'GRBM_COUNT');
        INSERT INTO rocpd_pmc_event_GUID VALUES (1, 1, 1, 10, NULL), (2, 3, 1, 30, NULL), (3, 4, 2, 7, NULL),
            (4, 6, 2, 9, NULL), (5, 1, 1, 5000, 1), (6, 1, 1, 6000, 2);
    """
    path = database(tmp_path / "r.db", SYMBOLS, DISPATCHES, replays)
    profile = read_profile(path)
    assert figures(path) == {"gemm": (2, 500), "cast": (1, 50)}
    assert any("3 dispatches repeat others" in note for note in profile.notes)
    assert {kernel.name: kernel.counters for kernel in profile.kernels}["gemm"] == {"SQ_WAVES": 20, "GRBM_COUNT": 8}


COUNTERS = (
    "Correlation_Id,Dispatch_Id,{replay}Agent_Id,Process_Id,Kernel_Name,Counter_Name,Counter_Value,"
    "Start_Timestamp,End_Timestamp"
)


def counters(path: Path, *rows: str, replay: bool = False) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([COUNTERS.format(replay="Replay_Pass," if replay else ""), *rows, ""]))


def test_replayed_counters(tmp_path: Path) -> None:
    rows = ("1,1,0,Agent 1,5,k,WAVES,100,10,30", "1,1,1,Agent 1,5,k,WAVES,102,40,60", "1,1,1,Agent 1,5,k,CYCLES,7,40,60")
    counters(tmp_path / "c.csv", *rows, replay=True)
    (kernel,) = read_profile(tmp_path / "c.csv").kernels
    assert (kernel.calls, kernel.total_ns, kernel.counters) == (1, 20, {"WAVES": 101, "CYCLES": 7})


@pytest.mark.parametrize("folder", ["pass_", "pmc_"])
def test_passes_over_the_program_are_one_run(tmp_path: Path, folder: str) -> None:
    for number, counter in ((1, "WAVES"), (2, "CYCLES"), (10, "HITS")):
        path = tmp_path / f"{folder}{number}" / "host" / f"{number}_counter_collection.csv"
        counters(path, f"1,1,Agent 1,{number},k,{counter},{number},{100 * number},{150 * number}")
    profile = read_profile(tmp_path)
    (kernel,) = profile.kernels
    assert (kernel.calls, kernel.total_ns) == (1, 50)
    assert kernel.counters == {"WAVES": 1, "CYCLES": 2, "HITS": 10}
    assert sum("repetition of the program" in note for note in profile.notes) == 2


@pytest.mark.parametrize(
    ("agent", "arch"), [("Agent 1", "gfx1100"), ("1", "gfx1151"), ("GPU 1", "gfx1100"), ("Agent 2", "gfx1100")]
)
def test_which_gpu_an_agent_id_means(tmp_path: Path, agent: str, arch: str) -> None:
    """Hidden nodes move the count of agents: node 1 isn't `Agent 1`. Numbers alone are of nodes."""
    (tmp_path / "1_agent_info.csv").write_text(
        '"Node_Id","Logical_Node_Id","Agent_Type","Name"\n0,-1,"CPU","x"\n1,0,"GPU","gfx1151"\n2,1,"GPU","gfx1100"\n'
    )
    (tmp_path / "1_kernel_trace.csv").write_text(
        f'Kind,Agent_Id,Kernel_Name,Start_Timestamp,End_Timestamp\nKERNEL_DISPATCH,"{agent}",k,10,20\n'
    )
    assert [device.arch for device in read_profile(tmp_path).devices] == [arch]


@pytest.mark.parametrize("traced", [True, False])
def test_json_with_a_trace_and_counters(tmp_path: Path, traced: bool) -> None:
    info = {"kernel_id": 3, "agent_id": {"handle": 1}}
    records = [{"dispatch_info": info, "start_timestamp": start, "end_timestamp": start + 30} for start in (10, 60)]
    counted = [
        {"dispatch_data": each, "records": [{"counter_id": {"handle": 7}, "value": value} for value in (3.0, 4.0)]}
        for each in records
    ]
    entry = {
        "kernel_symbols": [{"kernel_id": 3, "formatted_kernel_name": "k"}],
        "counters": [{"id": {"handle": 7}, "name": "WAVES"}],
        "buffer_records": {"kernel_dispatch": records if traced else []},
        "callback_records": {"counter_collection": counted},
    }
    (tmp_path / "r.json").write_text(json.dumps({"rocprofiler-sdk-tool": [entry]}))
    (kernel,) = read_profile(tmp_path / "r.json").kernels
    assert (kernel.calls, kernel.total_ns, kernel.counters) == (2, 60, {"WAVES": 7.0})


GRAPHS = """
    CREATE TABLE StringIds (id INTEGER, value TEXT); CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
    CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, deviceId INTEGER, graphId INTEGER);
    INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (0, 2000000, 0, 1), (3000000, 4000000, 0, 1);
"""
KERNEL = """
    INSERT INTO StringIds VALUES (1, 'k'), (2, x'ff');
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, shortName INTEGER);
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 35, 1), (40, 41, 2);
    CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, end INTEGER, bytes INTEGER);
    INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (1, 9, 4096);
"""


def test_kernels_inside_cuda_graphs_are_missed_and_said(tmp_path: Path) -> None:
    said = "2 CUDA graph launches of 3.000 ms, which were recorded as a whole"
    with refuses("profile-without-kernels") as refused:
        read_profile(database(tmp_path / "a.sqlite", GRAPHS))
    assert said in refused.value.found
    profile = read_profile(database(tmp_path / "b.sqlite", GRAPHS, KERNEL))
    assert any(said in line for line in profile.missing)
    assert (profile.calls, [(each.name, each.total_bytes) for each in profile.copies]) == (2, [("fill", 4096)])


def ncu_rows() -> list[list[str]]:
    with gzip.open(GOLDEN / "ncu_2025.3_h200_pipeline_raw.csv.gz", "rt", newline="") as file:
        return list(csv.reader(file))


def printed(rows: list[list[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    return text.getvalue()


@pytest.mark.parametrize("lines", [3, 3000])
def test_ncu_printing_behind_a_program_that_prints(tmp_path: Path, lines: int) -> None:
    before = "==PROF== Connected to process 7\n" + 'it says "hello, and no more\n' * lines + "==PROF== Disconnected\n"
    (tmp_path / "a.csv").write_text(before + printed(ncu_rows()))
    (tmp_path / "b.csv").write_text(printed(ncu_rows()))
    assert figures(tmp_path / "a.csv") == figures(tmp_path / "b.csv")
    (tmp_path / "c.csv").write_text("==ERROR== ERR_NVGPUCTRPERM - no permission\n")
    with pytest.raises(Refused) as refused:
        read_profile(tmp_path / "c.csv")
    assert "ERR_NVGPUCTRPERM" in refused.value.found


PRINTED = "==PROF== Connected to process 7\n{}==PROF== Disconnected\n"


@pytest.mark.parametrize("lines", [3, 3000])
def test_a_program_whose_last_words_have_no_end_of_line(tmp_path: Path, lines: int) -> None:
    (tmp_path / "a.csv").write_text(PRINTED.format("") + 'it says "hello\n' * lines + "Done" + printed(ncu_rows()))
    (tmp_path / "b.csv").write_text(printed(ncu_rows()))
    assert figures(tmp_path / "a.csv") == figures(tmp_path / "b.csv")


@pytest.mark.parametrize("warning", ["no commas", 'with, commas, and "quotes"', ","])
def test_a_warning_behind_the_table_is_no_row(tmp_path: Path, warning: str) -> None:
    rows = printed(ncu_rows())
    (tmp_path / "a.csv").write_text(f"{PRINTED.format('')}{rows}==WARNING== {warning}\n")
    (tmp_path / "b.csv").write_text(rows)
    assert figures(tmp_path / "a.csv") == figures(tmp_path / "b.csv")


@pytest.mark.parametrize("before", ["", "the program prints\n", "more\n" * 3000])
@pytest.mark.parametrize("said", ["==WARNING== No kernels were profiled.", "==ERROR== ERR_NVGPUCTRPERM"])
def test_why_ncu_wrote_no_table(tmp_path: Path, before: str, said: str) -> None:
    hints = "==WARNING== Another one.\nAvailable Kernels:\n1. foo\n"
    (tmp_path / "a.csv").write_text(PRINTED.format(before) + f"{said}\n{hints}")
    with pytest.raises(Refused) as refused:
        read_profile(tmp_path / "a.csv")
    assert refused.value.found == f"no table, but {said}"
    (tmp_path / "b.csv").write_text(PRINTED.format(before))
    with pytest.raises(Refused) as refused:
        read_profile(tmp_path / "b.csv")
    assert refused.value.found == "no table of ncu's"


def test_ncu_in_base_units(tmp_path: Path) -> None:
    rows = ncu_rows()
    at = rows[0].index("gpu__time_duration.sum")
    (tmp_path / "a.csv").write_text(printed(rows))
    scale = {"us": 1000, "ns": 1, "ms": 1_000_000}[rows[1][at]]
    for row in rows[2:]:
        row[at] = f"{round(float(row[at].replace(',', '')) * scale):,}"
    rows[1][at] = "ns"
    (tmp_path / "b.csv").write_text(printed(rows))
    assert figures(tmp_path / "b.csv") == figures(tmp_path / "a.csv")


@pytest.mark.parametrize("name", ["ncu_2025.3_h200_pipeline_raw.csv.gz", "ncu_2025.3_h200_pipeline_details.csv.gz"])
def test_two_tables_of_ncu_in_one_file_are_refused(tmp_path: Path, name: str) -> None:
    """`>>` twice: ids begin anew, and the second heads would be a kernel."""
    (tmp_path / "a.csv").write_bytes(2 * gzip.decompress((GOLDEN / name).read_bytes()))
    with pytest.raises(Refused) as refused:
        read_profile(tmp_path / "a.csv")
    assert "two tables" in refused.value.found


def test_ncu_of_another_locale_is_refused(tmp_path: Path) -> None:
    """`10,5` read as ten thousand and more would be a thousandfold time without a word."""
    rows = ncu_rows()
    rows[2][rows[0].index("gpu__time_duration.sum")] = "10,5"
    (tmp_path / "a.csv").write_text(printed(rows))
    with pytest.raises(Refused) as refused:
        read_profile(tmp_path / "a.csv")
    assert (
        "10,5, with a decimal comma of another locale" in refused.value.found,
        "LC_ALL=C" in (refused.value.hint or ""),
    ) == (True, True)


TORCH = {
    "ph": "X",
    "cat": "kernel",
    "name": "k",
    "pid": 0,
    "ts": 1000.5,
    "dur": 10.25,
    "args": {"device": 0, "grid": [4, 1, 1]},
}


def test_traces_with_more_in_them(tmp_path: Path) -> None:
    events = [
        TORCH,
        {**TORCH, "ts": "1020.250", "args": {"device": 0, "registers per thread": 32, "block": [128, 1, 1]}},
        {"ph": "i", "s": "t", "name": "[memory]", "cat": "cpu_instant_event", "ts": 3, "args": {"Bytes": 5}},
        {"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "python"}},
        {"ph": "f", "cat": "ac2g", "id": 2**60, "ts": 5},
    ]
    document = {"traceEvents": events, "distributedInfo": {"rank": 3, "world_size": 8}, "deviceProperties": [7, None]}
    (tmp_path / "t.json").write_text(json.dumps(document))
    assert figures(tmp_path / "t.json") == {"k": (2, 20500)}
    (tmp_path / "list.json.gz").write_bytes(gzip.compress(json.dumps(events).encode()))
    assert figures(tmp_path / "list.json.gz") == {"k": (2, 20500)}


def test_several_ranks_have_gpus_of_their_own(tmp_path: Path) -> None:
    for rank in range(2):
        (tmp_path / f"rank{rank}.json").write_text(json.dumps({"traceEvents": [{**TORCH, "ts": 1000 + rank}]}))
    profile = read_profile(tmp_path)
    assert [each.device for each in profile.timelines] == ["rank0.json device 0", "rank1.json device 0"]
    assert profile.calls == 2


def test_a_copy_of_a_trace_counts_once_and_another_process_is_added(tmp_path: Path) -> None:
    head = "Kind,Agent_Id,Kernel_Name,Start_Timestamp,End_Timestamp\n"
    (tmp_path / "1_kernel_trace.csv").write_text(head + "KERNEL_DISPATCH,Agent 1,k,10,20\n")
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "old.csv.gz").write_bytes(gzip.compress((tmp_path / "1_kernel_trace.csv").read_bytes()))
    assert figures(tmp_path) == {"k": (1, 10)}
    (tmp_path / "2_kernel_trace.csv").write_text(head + "KERNEL_DISPATCH,Agent 1,k,11,21\n")
    profile = read_profile(tmp_path)
    assert (profile.calls, profile.timelines[0].busy_ns) == (2, 11)
    assert any("kept/old.csv.gz: the same process as" in note for note in profile.notes)


def test_a_folder_that_cannot_be_looked_into_is_not_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is hidden from root, so the answer of the file system is given here."""

    def walk(path: Path, *, onerror: Callable[[OSError], None]) -> list[Any]:
        onerror(PermissionError(13, "Permission denied", str(path / "sub")))
        return []

    monkeypatch.setattr("expctl.profiles.run_folder.os.walk", walk)
    with refuses("file-not-readable") as refused:
        read_profile(tmp_path)
    assert "sub" in refused.value.where


REGISTERS = {"registers per thread": 32}
INTEL = "Intel(R) Data Center GPU Max 1550"


def trace_of(path: Path, product: str | None, arguments: dict[str, int]) -> Profile:
    event = TORCH | {"args": {"device": 0, "grid": [4, 1, 1], "block": [128, 1, 1]} | arguments}
    properties = [{"id": 0, "name": product}] if product else []
    path.write_text(json.dumps({"traceEvents": [event], "deviceProperties": properties}))
    return read_profile(path)


@pytest.mark.parametrize(
    ("product", "arguments", "unit"),
    [
        (None, {}, GridUnit.UNSURE),
        (None, REGISTERS, GridUnit.WORKGROUPS),
        ("NVIDIA H200", {}, GridUnit.WORKGROUPS),
        ("AMD Instinct MI210", {}, GridUnit.UNSURE),
        (INTEL, REGISTERS, GridUnit.UNSURE),
    ],
)
def test_what_a_grid_of_a_trace_counts(tmp_path: Path, product: str | None, arguments: dict[str, int], unit: GridUnit) -> None:
    profile = trace_of(tmp_path / "t.json", product, arguments)
    assert profile.grid_unit is unit
    assert any("the trace doesn't say which" in note for note in profile.notes) == (unit is GridUnit.UNSURE)


@pytest.mark.parametrize(
    ("product", "arguments", "says"),
    [
        (None, {}, "--arch gfx1151 (for example) corrects registers"),
        (None, REGISTERS, "--arch sm_90 (for example) gives occupancy"),
        (INTEL, {}, f"GPU: {INTEL} isn't known here"),
    ],
)
def test_what_is_said_of_a_gpu_without_a_name(
    tmp_path: Path, product: str | None, arguments: dict[str, int], says: str
) -> None:
    (note,) = [each for each in trace_of(tmp_path / "t.json", product, arguments).notes if each.startswith("GPU: ")]
    assert says in note
