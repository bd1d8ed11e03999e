"""nsys databases, built to the documented schema: names in StringIds, tables only where something was recorded."""

import sqlite3
from pathlib import Path

from expctl.profiles.model.kernel_profile import Profile
from expctl.profiles.read_profile import read_profile

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


GPUS = """
    CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, smCount INTEGER, computeMajor INTEGER, computeMinor INTEGER);
    INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA H200', 132, 9, 0), (1, 'NVIDIA A100-SXM4-80GB', 108, 8, 0);
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, globalPid INTEGER, name TEXT);
"""
NUMBERS = "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER NOT NULL, pid INTEGER NOT NULL)"


def of_processes(path: Path, *pids: int, numbers: str) -> Profile:
    """Two kernels with a gap between them in each process, while the other process runs."""
    with sqlite3.connect(path) as database:
        database.executescript(GPUS)
        if numbers:
            database.executescript(f"{NUMBERS}; INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES {numbers}")
        for rank, pid in enumerate(pids):
            for start in (100 + 50 * rank, 200 + 50 * rank):
                row = (start, start + 50, 0, 1 << 56 | pid << 24, "k")
                database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, ?, ?, ?)", row)
    database.close()
    return read_profile(path)


def test_a_process_that_sees_one_gpu_of_two(tmp_path: Path) -> None:
    profile = of_processes(tmp_path / "r.sqlite", 100, numbers="(1, 0, 100)")
    assert [(each.name, each.arch, each.units) for each in profile.devices] == [("device 1", "sm_80", 108)]
    assert profile.notes == ()


def test_gpus_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    """They came in the order of their first kernels, and 10 before 2."""
    with sqlite3.connect(tmp_path / "r.sqlite") as database:
        database.executescript(GPUS)
        for start, gpu in enumerate((10, 2, 0)):
            row = (100 * start, 100 * start + 50, gpu, 1 << 56, "k")
            database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, ?, ?, ?)", row)
    database.close()
    profile = read_profile(tmp_path / "r.sqlite", dispatches=True)
    wanted = ["device 0", "device 2", "device 10"]
    assert [each.name for each in profile.devices] == wanted
    assert [each.device for each in profile.timelines] == wanted
    assert [each.device for each in profile.tracks] == wanted


def test_two_processes_that_each_call_their_gpu_0(tmp_path: Path) -> None:
    profile = of_processes(tmp_path / "r.sqlite", 100, 200, numbers="(0, 0, 100), (1, 0, 200), (NULL, 1, 200)")
    assert [(each.device, each.span_ns, each.idle_ns) for each in profile.timelines] == [
        ("device 0", 150, 50), ("device 1", 150, 50),
    ]  # fmt: skip
    assert [device.arch for device in profile.devices] == ["sm_90", "sm_80"]
    shared = of_processes(tmp_path / "s.sqlite", 100, 200, numbers="(0, 0, 100), (0, 0, 200)")
    assert [(each.device, each.span_ns, each.idle_ns) for each in shared.timelines] == [("device 0", 200, 0)]


def test_a_process_that_is_not_listed_has_a_gpu_of_its_own(tmp_path: Path) -> None:
    profile = of_processes(tmp_path / "r.sqlite", 100, 200, numbers="(0, 0, 100)")
    assert [(each.device, each.idle_ns) for each in profile.timelines] == [
        ("device 0", 50), ("device 0 of process 200", 50),
    ]  # fmt: skip


def test_numbers_that_nothing_explains_are_said_to_be_unsure(tmp_path: Path) -> None:
    profile = of_processes(tmp_path / "r.sqlite", 100, numbers="")
    assert [each.device for each in profile.timelines] == ["device 0"]
    assert any("each process numbers its own from 0" in note for note in profile.notes)


def test_every_kind_of_copy_has_a_name(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "r.sqlite") as database:
        database.executescript("CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, copyKind INTEGER)")
        rows = [(100, 150, kind) for kind in range(15)]
        database.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (?, ?, ?)", rows)
    database.close()
    names = {each.name for each in read_profile(tmp_path / "r.sqlite").copies}
    assert [name for name in names if name.startswith("copy kind")] == ["copy kind 14"]
    assert {"host to host", "unified memory, host to device"} <= names
