"""Every format against figures computed another way: in SQL over the raw rows, or with the statistics module."""

import csv
import gzip
import json
import sqlite3
import statistics
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest

from expctl.profiles.model.kernel_profile import Kernel, Profile
from expctl.profiles.read_profile import read_profile

GOLDEN = Path(__file__).parent / "golden"
Unpack = Callable[[str], Path]
Times = dict[str, list[int]]


def by_name(profile: Profile) -> dict[str, Kernel]:
    assert len({kernel.name for kernel in profile.kernels}) == len(profile.kernels)
    return {kernel.name: kernel for kernel in profile.kernels}


def agrees(profile: Profile, times: Times) -> None:
    """All figures of all kernels; `times` are durations by name."""
    found = by_name(profile)
    assert found.keys() == times.keys()
    everything = sum(map(sum, times.values()))
    assert (profile.calls, profile.total_ns) == (sum(map(len, times.values())), everything)
    for name, durations in times.items():
        kernel = found[name]
        assert (kernel.calls, kernel.total_ns) == (len(durations), sum(durations))
        assert (kernel.min_ns, kernel.max_ns) == (min(durations), max(durations))
        assert kernel.median_ns == statistics.median(durations)
        assert kernel.mean_ns == pytest.approx(statistics.fmean(durations))
        assert kernel.share_percent == pytest.approx(100 * sum(durations) / everything)
        if len(durations) > 1:
            assert kernel.sd_ns == pytest.approx(statistics.stdev(durations), abs=1e-6)


def csv_rows(path: Path) -> list[dict[str, str]]:
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def csv_times(path: Path) -> Times:
    times: Times = defaultdict(list)
    for row in csv_rows(path):
        times[row["Kernel_Name"]].append(int(row["End_Timestamp"]) - int(row["Start_Timestamp"]))
    return times


@pytest.mark.parametrize(
    "name",
    [
        "rocprofv3_7_gfx950_kernel_trace.csv", "rocprofv3_7_gfx1151_kernel_trace.csv", "rocprofv3_6.3_doc_kernel_trace.csv",
        "rocprofv3_7.0_doc_kernel_trace.csv", "rocprofv3_7.0_doc_kernel_trace_truncated.csv",
    ],
)  # fmt: skip
def test_kernel_traces(golden: Unpack, name: str) -> None:
    path = golden(name)
    agrees(read_profile(path), csv_times(path))


def test_statistics_and_trace_of_one_run_agree_in_all_33_kernels(golden: Unpack) -> None:
    stated = by_name(read_profile(golden("rocprofv3_7_gfx950_kernel_stats.csv")))
    traced = by_name(read_profile(golden("rocprofv3_7_gfx950_kernel_trace.csv")))
    assert len(stated) == 33
    assert stated.keys() == traced.keys()
    for name, kernel in stated.items():
        other = traced[name]
        assert (kernel.calls, kernel.total_ns, kernel.min_ns, kernel.max_ns) == (
            other.calls, other.total_ns, other.min_ns, other.max_ns,
        )  # fmt: skip
        assert kernel.mean_ns == pytest.approx(other.mean_ns, abs=1e-6)
        assert kernel.share_percent == pytest.approx(other.share_percent)
        if kernel.calls > 1:
            assert kernel.sd_ns == pytest.approx(other.sd_ns, abs=2e-6)
        assert kernel.median_ns is None


def test_statistics_as_printed(golden: Unpack) -> None:
    path = golden("rocprofv3_7_gfx950_kernel_stats.csv")
    found = by_name(read_profile(path))
    for row in csv_rows(path):
        kernel = found[row["Name"]]
        assert (kernel.calls, kernel.total_ns) == (int(row["Calls"]), int(row["TotalDurationNs"]))
        assert kernel.share_percent == pytest.approx(float(row["Percentage"]), rel=1e-3, abs=0.006)


def test_a_folder_is_one_run_and_counts_nothing_twice(golden: Unpack) -> None:
    files = [
        golden(f"rocprofv3_7_gfx950_{name}.csv") for name in ("kernel_trace", "kernel_stats", "agent_info", "domain_stats")
    ]
    profile = read_profile(files[0].parent)
    agrees(profile, csv_times(files[0]))
    assert [(device.arch, device.units, device.clock_mhz) for device in profile.devices] == [("gfx950", 256, 2200)]
    assert any("agrees with the dispatches in calls and total of all 33 kernels" in note for note in profile.notes)
    assert any("domain_stats.csv: statistics of whole domains" in note for note in profile.notes)


def test_statistics_that_do_not_belong_are_seen(golden: Unpack) -> None:
    golden("rocprofv3_7_gfx950_kernel_trace.csv")
    stats = golden("rocprofv3_7_gfx950_kernel_stats.csv")
    stats.write_text(stats.read_text().replace('"gemm_prefetch",210', '"gemm_prefetch",209'))
    notes = read_profile(stats.parent).notes
    assert any("differs from the dispatches in 1 of 33 kernels, for one gemm_prefetch" in note for note in notes)


def test_rocpd_against_its_own_views(golden: Unpack) -> None:
    path = golden("rocpd_schema3_gfx1250.db")
    times: Times = defaultdict(list)
    with sqlite3.connect(path) as database:
        for name, duration in database.execute("SELECT name, duration FROM kernels"):
            times[name].append(duration)
        resources = database.execute("SELECT name, vgpr_count, lds_size, grid_x, grid_y, workgroup_x FROM kernels").fetchall()
        first, last = database.execute("SELECT min(start), max(end) FROM kernels").fetchone()
    database.close()
    profile = read_profile(path)
    agrees(profile, times)
    for name, vgpr, lds, grid_x, grid_y, workgroup in resources:
        launch = by_name(profile)[name].launch
        assert (launch.vgpr, launch.lds_bytes, launch.grid, launch.workgroup) == (
            vgpr,
            lds,
            (grid_x, grid_y, 1),
            (workgroup, 1, 1),
        )
        assert launch.sgpr is None  # 128 is no count
    (timeline,) = profile.timelines
    assert timeline.span_ns == last - first
    assert timeline.idle_ns == last - first - sum(map(sum, times.values()))


def test_rocprof_json_against_sql_over_its_records() -> None:
    path = GOLDEN / "rocprofv3_7_mi350x_first3000.json.gz"
    with gzip.open(path) as file:
        (tool,) = json.load(file)["rocprofiler-sdk-tool"]
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE d (kernel, s, e)")
    database.execute("CREATE TABLE k (id, name)")
    records = tool["buffer_records"]["kernel_dispatch"]
    rows = [(each["dispatch_info"]["kernel_id"], each["start_timestamp"], each["end_timestamp"]) for each in records]
    database.executemany("INSERT INTO d VALUES (?, ?, ?)", rows)
    names = [(each["kernel_id"], each["formatted_kernel_name"]) for each in tool["kernel_symbols"]]
    database.executemany("INSERT INTO k VALUES (?, ?)", names)
    times: Times = defaultdict(list)
    for name, duration in database.execute("SELECT name, e - s FROM d JOIN k ON d.kernel = k.id"):
        times[name].append(duration)
    overlaps = "SELECT count(*) FROM d a JOIN d b ON a.s < b.s AND b.s < a.e"
    (overlapping,) = database.execute(overlaps).fetchone()
    database.close()
    profile = read_profile(path)
    agrees(profile, times)
    (timeline,) = profile.timelines
    busy = 0
    reached = 0
    for _, start, end in sorted(rows, key=lambda row: row[1]):
        busy += max(0, end - max(start, reached))
        reached = max(reached, end)
    assert (timeline.busy_ns, overlapping > 0) == (busy, True)


TRACES = (
    "torch_cuda12.4_h100.json.gz",
    "torch_2.11_cuda13.0_h200.json.gz",
    "torch_rocm6.4_mi210.json.gz",
    "torch_rocm6.2_mi250.json.gz",
)


@pytest.mark.parametrize("name", TRACES)
def test_torch_traces(name: str) -> None:
    with gzip.open(GOLDEN / name) as file:
        document = json.load(file)
    events = [event for event in document["traceEvents"] if event.get("cat") == "kernel"]
    times: Times = defaultdict(list)
    for event in events:
        times[event["name"]].append(round(event["dur"] * 1000))
    profile = read_profile(GOLDEN / name)
    agrees(profile, times)
    assert sum(copy.calls for copy in profile.copies) == sum(
        event.get("cat") in ("gpu_memcpy", "gpu_memset") for event in document["traceEvents"]
    )
    registers = {event["name"]: event["args"].get("registers per thread") for event in events}
    for kernel in profile.kernels:
        assert {launch.vgpr for launch in kernel.launches} >= {registers[kernel.name]}
    assert any("registers" in line for line in profile.missing) is ("rocm" in name)


def test_ids_beyond_two_to_the_53_and_epoch_times_lose_nothing(tmp_path: Path) -> None:
    event = {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "args": {"device": 0, "correlation": 2**53 + 1}}
    first = {**event, "ts": "AT", "dur": 1.001}
    text = json.dumps({"traceEvents": [first, {**event, "ts": 1751410836000003, "dur": 2}]}).replace(
        '"AT"', "1751410836000000.123"
    )
    (tmp_path / "t.json").write_text(text)
    (timeline,) = read_profile(tmp_path / "t.json").timelines
    assert (timeline.span_ns, timeline.busy_ns) == (4877, 3001)


NCU_NS = {"ns": 1, "us": 1000, "ms": 1_000_000}


@pytest.mark.parametrize("capture", ["ncu_2025.3_h200", "ncu_2025.3_h200_pipeline"])
def test_ncu_raw_page(golden: Unpack, capture: str) -> None:
    path = golden(f"{capture}_raw.csv")
    with open(path, newline="") as file:
        heads, units, *rows = csv.reader(file)
    column = {head: index for index, head in enumerate(heads)}
    at = column["gpu__time_duration.sum"]
    times: Times = defaultdict(list)
    for row in rows:
        times[row[column["Kernel Name"]]].append(round(float(row[at].replace(",", "")) * NCU_NS[units[at]]))
    profile = read_profile(path)
    agrees(profile, times)
    for row in rows:
        launches = by_name(profile)[row[column["Kernel Name"]]].launches
        assert int(row[column["launch__registers_per_thread"]]) in {launch.vgpr for launch in launches}
        assert {launch.groups for launch in launches} >= {int(row[column["launch__grid_size"]].replace(",", ""))}
    assert [(device.arch, device.product, device.units) for device in profile.devices] == [("sm_90", "NVIDIA H200", 132)]


@pytest.mark.parametrize("capture", ["ncu_2025.3_h200", "ncu_2025.3_h200_pipeline"])
def test_both_pages_of_one_capture_agree_as_far_as_details_are_printed(golden: Unpack, capture: str) -> None:
    raw = by_name(read_profile(golden(f"{capture}_raw.csv")))
    details = by_name(read_profile(golden(f"{capture}_details.csv")))
    assert raw.keys() == details.keys()
    for name, kernel in raw.items():
        other = details[name]
        assert other.total_ns == pytest.approx(kernel.total_ns, rel=2e-3)
        assert [(each.vgpr, each.grid, each.workgroup) for each in other.launches] == [
            (each.vgpr, each.grid, each.workgroup) for each in kernel.launches
        ]
        for metric in ("sm__throughput.avg.pct_of_peak_sustained_elapsed", "gpc__cycles_elapsed.avg.per_second"):
            if metric in other.counters and metric in kernel.counters:
                assert other.counters[metric] == pytest.approx(kernel.counters[metric], rel=5e-3)


def test_a_raw_page_without_sizes_of_its_own_has_them_in_its_metrics(golden: Unpack, tmp_path: Path) -> None:
    path = golden("ncu_2025.3_h200_pipeline_raw.csv")
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    gone = {rows[0].index("Block Size"), rows[0].index("Grid Size")}
    with open(tmp_path / "old.csv", "w", newline="") as file:
        csv.writer(file).writerows([cell for column, cell in enumerate(row) if column not in gone] for row in rows)
    old, new = read_profile(tmp_path / "old.csv"), read_profile(path)
    launches = [kernel.launch for kernel in new.kernels]
    assert [kernel.launch for kernel in old.kernels] == launches
    assert [kernel.total_ns for kernel in old.kernels] == [kernel.total_ns for kernel in new.kernels]


def test_metrics_printed_while_profiling_have_lines_of_ncu_around_them(golden: Unpack) -> None:
    path = golden("ncu_2025.3_h200_pipeline_live.csv")
    assert path.read_text().startswith("==PROF==")
    found = read_profile(path)
    gemm = next(kernel for kernel in found.kernels if kernel.name.startswith("nvjet"))
    assert (gemm.total_ns, gemm.launch.vgpr, gemm.counters["dram__bytes.sum"]) == (221152, 168, 174019328)


@pytest.mark.parametrize(
    "name",
    [
        "rocprofv3_7_gfx1151_fetch_counters.csv",
        "rocprofv3_7_gfx1151_stall_counters.csv",
        "rocprofv3_7.0_doc_counter_collection.csv",
    ],
)
def test_counters_are_means_per_call_and_a_dispatch_is_timed_once(golden: Unpack, name: str) -> None:
    path = golden(name)
    rows = csv_rows(path)
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE c (dispatch INTEGER, kernel, counter, value REAL, ns INTEGER)")
    database.executemany(
        "INSERT INTO c VALUES (?, ?, ?, ?, ?)",
        [
            (each["Dispatch_Id"], each["Kernel_Name"], each["Counter_Name"], each["Counter_Value"],
             int(each["End_Timestamp"]) - int(each["Start_Timestamp"]))
            for each in rows
        ],
    )  # fmt: skip
    times: Times = defaultdict(list)
    for kernel, duration in database.execute("SELECT kernel, ns FROM c GROUP BY dispatch"):
        times[kernel].append(duration)
    profile = read_profile(path)
    agrees(profile, times)
    found = by_name(profile)
    for kernel, counter, mean in database.execute("SELECT kernel, counter, avg(value) FROM c GROUP BY kernel, counter"):
        assert found[kernel].counters[counter] == pytest.approx(mean)
    database.close()


@pytest.mark.parametrize("name", ["rocprofv3_6.3_doc_counter_collection.csv", "rocprofv3_6.3_doc_kernel_names.csv"])
def test_counters_without_times_say_so(golden: Unpack, name: str) -> None:
    profile = read_profile(golden(name))
    rows = csv_rows(golden(name))
    assert profile.calls == len({row["Dispatch_Id"] for row in rows})
    assert all(kernel.total_ns is None and kernel.counters == {"SQ_WAVES": 16384} for kernel in profile.kernels)
    assert any(line.startswith("times") for line in profile.missing)


def test_copies_are_counted_apart(golden: Unpack) -> None:
    path = golden("rocprofv3_7.0_doc_memory_copy_trace.csv")
    times: Times = defaultdict(list)
    for row in csv_rows(path):
        times[row["Direction"]].append(int(row["End_Timestamp"]) - int(row["Start_Timestamp"]))
    profile = read_profile(path)
    assert {copy.name: (copy.calls, copy.total_ns) for copy in profile.copies} == {
        name: (len(each), sum(each)) for name, each in times.items()
    }
    assert profile.kernels == ()
