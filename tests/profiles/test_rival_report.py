"""What the rivals step leaves is read with its profiles; what no reader could use is refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from expctl.domain.experiment.rivals import RivalReport
from expctl.domain.run.step_result import Failed
from expctl.profiles.readers.rocprof.rocpd_code_objects import names_beside
from expctl.profiles.rival_report import read_rivals

CAST = {"name": "triton_poi_fused__to_copy_0", "registers per thread": 16, "shared memory": 0, "grid": [4096, 1, 1]}
PRODUCT = {"name": "nvjet_hsh_128x256_64x4", "registers per thread": 168, "shared memory": 213_000, "grid": [16, 8, 1]}
PREPARATION = {"name": "fill", "registers per thread": 8, "shared memory": 0, "grid": [1, 1, 1]}


def entry(name: str = "ours", role: str = "ours", **facts: Any) -> dict[str, Any]:
    return {"name": name, "role": role, "ns": [2.0, 3.0], **facts}


def left(folder: Path, *entries: dict[str, Any], **more: Any) -> Path:
    """What a script leaves in `folder`."""
    (folder / "rivals.json").write_text(json.dumps({"sizes": [{"name": "n=1", "flop": 6, "entries": entries}], **more}))
    return folder


def trace(folder: Path, *kernels: tuple[dict[str, Any], int]) -> None:
    """A trace of torch.profiler: each kernel so many times, 5 us each."""
    names = [kernel for kernel, calls in kernels for _ in range(calls)]
    events = [
        {
            "ph": "X",
            "cat": "kernel",
            "name": each["name"],
            "ts": 10 * at,
            "dur": 5,
            "args": {**each, "device": 0, "block": [384, 1, 1]},
        }
        for at, each in enumerate(names)
    ]
    folder.mkdir()
    properties = [{"id": 0, "name": "NVIDIA H200", "computeMajor": 9, "computeMinor": 0, "numSms": 132}]
    (folder / "torch_trace.json").write_text(json.dumps({"traceEvents": events, "deviceProperties": properties}))


def test_kernels_of_a_trace_are_those_of_every_product(tmp_path: Path) -> None:
    trace(tmp_path / "n=1.2", (PRODUCT, 10), (CAST, 10), (PREPARATION, 3))
    listing = {"products": 10, "folder": "n=1.2"}
    code = {"nvjet_hsh_128x256_64x4": ["nvjet_hsh_128x128_64x4", "nvjet_hsh_128x256_64x4"]}
    told = entry("compiled", "rival", listing=listing, cast_bytes=100_000, chosen="ATEN mm", code_objects=code)
    report = read_rivals(left(tmp_path, entry(), told, environment={"torch": "2.11"}))
    assert isinstance(report, RivalReport)
    assert report.environment == {"torch": "2.11"}
    rival = report.sizes[0].entries[1]
    table = [
        (each.name, each.calls, each.mean_ns, each.registers, each.lds_bytes, each.grid, each.workgroup)
        for each in rival.kernels
    ]
    assert table == [
        ("nvjet_hsh_128x256_64x4", 10, 5000.0, 168, 213_000, (16, 8, 1), (384, 1, 1)),
        ("triton_poi_fused__to_copy_0", 10, 5000.0, 16, 0, (4096, 1, 1), (384, 1, 1)),
    ]
    assert rival.cast_bytes / rival.cast_ns == 20
    assert [(each.symbol, each.count, each.nearest) for each in rival.code_objects] == [
        ("nvjet_hsh_128x256_64x4", 2, ("nvjet_hsh_128x128_64x4",))
    ]


def test_a_database_of_rocprofv3_says_what_lies_beside_a_kernel(tmp_path: Path, golden: Callable[[str], Path]) -> None:
    found = golden("rocpd_schema3_gfx1250.db")
    (folder := tmp_path / "out" / "n=1.0").mkdir(parents=True)
    database = folder / "rival_results.db"
    database.write_bytes(found.read_bytes())
    names = names_beside(database, (known := sorted(names_of(database)))[0])
    assert known[0] in names
    assert set(names) <= set(known)
    assert names_beside(database, "no such kernel") == ()


def names_of(database: Path) -> set[str]:
    import sqlite3

    with sqlite3.connect(database) as opened:
        (table,) = opened.execute(
            "SELECT name FROM sqlite_master WHERE name LIKE 'rocpd_info_kernel_symbol%' AND type = 'table'"
        ).fetchone()
        return {str(name) for (name,) in opened.execute(f"SELECT display_name FROM {table}")}


def test_a_profile_that_can_not_be_read_becomes_a_remark(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    outside = entry("b", "rival", listing={"products": 1, "folder": "../.."})
    report = read_rivals(left(tmp_path, entry(listing={"products": 1, "folder": "empty"}), outside))
    assert isinstance(report, RivalReport)
    first, second = report.sizes[0].entries
    assert first.remark
    assert second.remark == "../.. is no folder of the output"
    assert first.kernels == second.kernels == ()


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ([], "n=1: expected one entry of the role ours"),
        ([entry("a", "rival")], "expected one entry of the role ours"),
        ([entry(), entry("b")], "expected one entry of the role ours"),
        ([entry(), entry("b", "rival"), entry("b", "rival")], "each name once"),
        ([entry(), {"name": "b", "role": "rival"}], "n=1, b: expected times above 0 ns"),
        ([entry(), entry("b", "rival", absent="no g++")], "n=1, b: expected times above 0 ns"),
        ([{**entry(), "ns": [1.0, -2.0]}], "n=1, ours: expected times above 0 ns"),
        ([entry(), {**entry("b", "rival"), "ns": [1.0]}], "n=1: expected as many turns of each"),
        ([entry("a", "friend")], "Invalid enum value 'friend'"),
        ([entry(speed=3)], "unknown field `speed`"),
    ],
)
def test_what_no_reader_could_use_is_refused(entries: list[dict[str, Any]], reason: str, tmp_path: Path) -> None:
    found = read_rivals(left(tmp_path, *entries))
    assert isinstance(found, Failed)
    assert reason in found.reason


@pytest.mark.parametrize(
    ("text", "reason"), [(None, "No such file"), ("{", "rivals.json: "), ('{"sizes": []}', "expected one size")]
)
def test_no_report_is_no_report(text: str | None, reason: str, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "rivals.json").write_text(text)
    found = read_rivals(tmp_path)
    assert isinstance(found, Failed)
    assert reason in found.reason
