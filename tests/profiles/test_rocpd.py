"""Databases that are not as plain as the real one: NULLs, several GPUs, several processes, other names, thousands of rows."""

import gzip
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from expctl.profiles.read_profile import read_profile
from expctl.profiles.readers.rocprof import rocpd_dispatches
from tests.profiles.large_profiles import GUID, REAL, rocpd

Show = Callable[..., Any]


def database(path: Path, script: str) -> Path:
    """The real database after a script, with T_ for a table's prefix and _G for its guid."""
    path.write_bytes(gzip.decompress(REAL.read_bytes()))
    with sqlite3.connect(path) as connection:
        connection.executescript(script.replace(" T_", " rocpd_").replace("_G", f"_{GUID}"))
    connection.close()
    return path


def test_what_the_views_hide_is_counted_and_said(tmp_path: Path) -> None:
    path = database(tmp_path / "r.db", "UPDATE T_kernel_dispatch_G SET event_id = NULL WHERE id = 3")
    with sqlite3.connect(path) as connection:
        (seen,) = connection.execute("SELECT count(*) FROM kernels").fetchone()
    connection.close()
    profile = read_profile(path)
    assert (seen, profile.calls) == (4, 5)
    assert any("hides 1 of 5" in note for note in profile.notes)


def test_two_gpus_are_two_timelines(tmp_path: Path) -> None:
    script = """
        INSERT INTO T_info_agent_G (id, nid, pid, type, absolute_index, name, extdata)
            SELECT 2, nid, pid, type, 2, name, extdata
            FROM T_info_agent_G WHERE id = 1;
        UPDATE T_kernel_dispatch_G SET agent_id = 2 WHERE id IN (4, 5);
    """
    profile = read_profile(database(tmp_path / "r.db", script))
    assert [(each.device, each.dispatches) for each in profile.timelines] == [("agent 1", 3), ("agent 2", 2)]
    assert [device.units for device in profile.devices] == [256, 256]


def test_a_folder_of_two_processes_is_added_up_and_a_copy_is_not(tmp_path: Path) -> None:
    one = read_profile(database(tmp_path / "a.db", ""))
    other = tmp_path / "b.db"
    other.write_bytes((tmp_path / "a.db").read_bytes())
    copied = read_profile(tmp_path)
    assert (copied.calls, copied.total_ns) == (one.calls, one.total_ns)
    assert any("the same process" in note for note in copied.notes)
    with sqlite3.connect(other) as connection:
        tables = [
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd%'")
        ]
        connection.execute("PRAGMA legacy_alter_table = 1")
        for name in tables:
            connection.execute(f'ALTER TABLE "{name}" RENAME TO "{name.replace("88a3", "99b4")}"')
    connection.close()
    assert read_profile(tmp_path).calls == 2 * one.calls


def test_names_of_another_version(tmp_path: Path) -> None:
    script = """
        PRAGMA legacy_alter_table = 1;
        DROP VIEW kernels; DROP VIEW kernel_symbols; DROP VIEW counters_collection;
        ALTER TABLE T_info_kernel_symbol_G RENAME COLUMN arch_vgpr_count TO vgpr_count;
        ALTER TABLE T_kernel_dispatch_G RENAME COLUMN group_segment_size TO lds_block_size;
        ALTER TABLE T_kernel_dispatch_G RENAME COLUMN region_name_id TO region;
    """
    plain = read_profile(database(tmp_path / "a.db", ""))
    renamed = read_profile(database(tmp_path / "r.db", script))
    assert renamed.kernels == plain.kernels


@pytest.mark.parametrize("overlapping", [False, True])
def test_one_process_and_two_processes_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, overlapping: bool) -> None:
    path = tmp_path / "r.db"
    rocpd(path, 3000, overlapping=overlapping)
    whole = read_profile(path)
    monkeypatch.setattr(rocpd_dispatches, "ROWS_FOR_TWO", 1000)
    monkeypatch.setattr(rocpd_dispatches, "usable_cores", lambda: 2)
    assert read_profile(path) == whole
    with sqlite3.connect(path) as connection:
        rows = connection.execute("SELECT count(*), sum(duration), min(start), max(end) FROM kernels").fetchone()
    connection.close()
    (timeline,) = whole.timelines
    assert (whole.calls, whole.total_ns, timeline.span_ns) == (rows[0], rows[1], rows[3] - rows[2])


def test_dispatches_in_any_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "r.db"
    rocpd(path, 2000, overlapping=True)
    with sqlite3.connect(path) as connection:
        connection.execute(f"UPDATE rocpd_kernel_dispatch_{GUID} SET start = end - start, end = start % 1000 + 2 * end - start")
        rows = connection.execute("SELECT start, end FROM kernels ORDER BY start").fetchall()
        hidden = connection.execute(f"UPDATE rocpd_kernel_dispatch_{GUID} SET tid = NULL WHERE id % 3 = 0").rowcount
    connection.close()
    busy = reached = 0
    for start, end in rows:
        busy += max(0, end - max(start, reached))
        reached = max(reached, end)
    monkeypatch.setattr(rocpd_dispatches, "ROWS_FOR_TWO", 1000)
    for cores in (1, 2):
        monkeypatch.setattr(rocpd_dispatches, "usable_cores", lambda cores=cores: cores)
        profile = read_profile(path)
        (timeline,) = profile.timelines
        assert (timeline.busy_ns, timeline.span_ns) == (busy, reached - rows[0][0])
        assert any(f"hides {hidden} of 2000" in note for note in profile.notes)


def test_launches_that_differ_in_one_extent_only(tmp_path: Path) -> None:
    """Their keys are sums: none may hide behind another."""
    script = """
        UPDATE T_kernel_dispatch_G SET kernel_id = 1, group_segment_size = 0,
            workgroup_size_x = 64, workgroup_size_y = 1, workgroup_size_z = 1,
            grid_size_x = 6400 + 64 * (id = 2), grid_size_y = 6400 - 320 * (id = 2) - 1 * (id = 3),
            grid_size_z = 6400 + 384 * (id = 2) + 2 * (id = 3), private_segment_size = id = 4;
    """
    (kernel,) = read_profile(database(tmp_path / "r.db", script)).kernels
    assert sorted(each.calls or 0 for each in kernel.launches) == [1, 1, 1, 2]


def test_ids_with_holes(tmp_path: Path) -> None:
    path = database(tmp_path / "r.db", "DELETE FROM T_kernel_dispatch_G WHERE id IN (2, 3)")
    with sqlite3.connect(path) as connection:
        rows = connection.execute("SELECT name, grid_x, grid_y FROM kernels").fetchall()
    connection.close()
    assert {(kernel.name, *(kernel.launch.grid or ())[:2]) for kernel in read_profile(path).kernels} == set(rows)


def test_counters_and_copies(tmp_path: Path, show: Show) -> None:
    script = """
        INSERT INTO T_info_pmc_G (id, nid, pid, name, symbol) VALUES (1, 2161002656, 146104, 'SQ_WAVES', 'SQ_WAVES');
        INSERT INTO T_pmc_event_G (event_id, pmc_id, value) VALUES (3, 1, 100), (3, 1, 20), (5, 1, 80);
        INSERT INTO T_memory_copy_G (nid, pid, start, end, name_id, size) SELECT 2161002656, 146104, 5, 15, id, 4096
            FROM T_string_G WHERE string = 'MEMORY_COPY_HOST_TO_DEVICE';
    """
    facts = json.loads(show(database(tmp_path / "r.db", script), "--json").out)
    gemm = next(each for each in facts["kernels"] if each["name"] == "kernel_mxscale_gemm_0")
    assert gemm["counters"] == {"SQ_WAVES": 100}
    assert facts["copies"] == [{"name": "MEMORY_COPY_HOST_TO_DEVICE", "calls": 1, "total_ns": 10, "total_bytes": 4096}]
