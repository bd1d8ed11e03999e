"""nsys databases, built to the documented schema: names in StringIds, tables only where something was recorded."""

import sqlite3
from pathlib import Path

from expctl.profiling.reader import read_profile

SCHEMA = """
    CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
    CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, smCount INTEGER, clockRate INTEGER, computeMajor INTEGER,
        computeMinor INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
        contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL,
        shortName INTEGER NOT NULL, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER,
        registersPerThread INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER, localMemoryPerThread INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, bytes INTEGER, copyKind INTEGER);
    INSERT INTO StringIds VALUES (1, 'void gemm<float>(int)'), (2, 'gemm'), (3, 'void relu(float*)'), (4, 'relu');
    INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.20.1');
    INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA H200', 132, 1980000000, 9, 0);
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
        (100, 400, 0, 1, 7, 1, 9, 1, 2, 66, 2, 1, 384, 1, 1, 168, 1024, 2048, 0),
        (500, 700, 0, 1, 7, 2, 9, 1, 2, 66, 2, 1, 384, 1, 1, 168, 1024, 2048, 0),
        (700, 750, 0, 1, 7, 3, 9, 3, 4, 9, 1, 1, 128, 1, 1, 32, 0, 0, 0);
    INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (10, 60, 0, 512, 1);
"""


def test_kernels_by_their_demangled_names(tmp_path: Path) -> None:
    path = tmp_path / "report.sqlite"
    with sqlite3.connect(path) as database:
        database.executescript(SCHEMA)
        rows = database.execute(
            "SELECT value, count(*), sum(k.end - k.start) FROM CUPTI_ACTIVITY_KIND_KERNEL k "
            "JOIN StringIds s ON s.id = k.demangledName "
            "GROUP BY value"
        ).fetchall()
    database.close()
    profile = read_profile(path)
    assert {(each.name, each.calls, each.total_ns) for each in profile.kernels} == set(rows)
    launch = profile.kernels[0].launch
    assert (launch.vgpr, launch.lds_bytes, launch.groups, launch.workgroup) == (168, 3072, 132, (384, 1, 1))
    assert [(each.arch, each.units, each.clock_mhz) for each in profile.devices] == [("sm_90", 132, 1980)]
    (timeline,) = profile.timelines
    assert (timeline.span_ns, timeline.idle_ns) == (650, 100)
    assert [(copy.name, copy.total_bytes) for copy in profile.copies] == [("host to device", 512)]


def test_few_columns_are_enough(tmp_path: Path) -> None:
    path = tmp_path / "report.sqlite"
    with sqlite3.connect(path) as database:
        database.executescript("""
            CREATE TABLE StringIds (id INTEGER, value TEXT); INSERT INTO StringIds VALUES (1, 'kernel_a');
            CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, shortName INTEGER);
            INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 35, 1);
        """)
    database.close()
    (kernel,) = read_profile(path).kernels
    assert (kernel.name, kernel.total_ns, kernel.launch.vgpr) == ("kernel_a", 25, None)
