"""Faults by place in the source: elements instead of bytes, one finding for equal faults."""

from dataclasses import replace
from pathlib import Path

import pytest

from expctl.check.case import case_of
from expctl.check.findings import FindingLog
from expctl.check.places import Places
from expctl.check.resolved import resolve
from tests.check.made import ASSEMBLY, source_of

CASE = case_of(
    {
        "shapes": {"n": 10},
        "grid": [1],
        "block": [32],
        "arguments": [
            {"name": "x", "dtype": "f16", "shape": [4, "n"]},
            {"name": "one", "dtype": "f32", "shape": [1], "role": "out"},
            {"name": "n", "dtype": "i32", "value": "n"},
        ],
    },
    "here",
)


@pytest.fixture
def log(tmp_path) -> FindingLog:  # type: ignore[no-untyped-def]
    return FindingLog(case=CASE, launch=resolve(CASE, CASE.shapes), places=Places(ASSEMBLY, source_of(tmp_path)))


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("byte 0 of x is read", "x[0, 0] is read"),
        ("byte 47 of x is read", "x[2, 3] is read"),
        ("reads 4 bytes at 0 bytes after the end of x (80 bytes)", "reads 4 bytes at x[40], outside its 40 elements"),
        ("reads 4 bytes at 7 bytes after the end of x (80 bytes)", "reads 4 bytes at x[43], outside its 40 elements"),
        ("reads 2 bytes at 2 bytes before x (80 bytes)", "reads 2 bytes at x[-1], outside its 40 elements"),
        ("reads 4 bytes at 0 bytes after the end of one (4 bytes)", "reads 4 bytes at one[1], outside its 1 element"),
        (
            "updates what nothing wrote, byte 0 of one",
            "updates what nothing wrote, one[0]: its role is out; inout with values gives it a beginning",
        ),
        ("updates what nothing wrote, byte 4 of x", "updates what nothing wrote, x[0, 2]"),
        ("byte 4 of y, LDS bytes from 4 on", "byte 4 of y, LDS bytes from 4 on"),
        (
            "8 bytes after the end of the kernel arguments (64 bytes)",
            "8 bytes after the end of the kernel arguments (64 bytes)",
        ),
    ],
)
def test_bytes_are_told_as_elements(log: FindingLog, what: str, told: str) -> None:
    log.fault(0, "out of bounds", 6, 0, what)
    assert log.all()[0].what == told


@pytest.mark.parametrize(
    ("kind", "what", "told"),
    [
        ("race", "LDS bytes from 0 on that wave 1 writes and wave 0 touches", "^; both in workgroup (1, 2)"),
        ("race", "lanes of one store write different values to the same bytes of LDS", "^, in wave 3 of workgroup (1, 2)"),
        ("race", "workgroup 4, wave 0 reads and workgroup 5, wave 1 touches",
         "workgroup (1, 1), wave 0 reads and workgroup (2, 1), wave 1 touches"),
        ("out of bounds", "reads 4 bytes at 0 bytes after the end of one (4 bytes)",
         "reads 4 bytes at one[1], outside its 1 element, in wave 3 of workgroup (1, 2)"),
        ("out of bounds", "4 bytes at 512 of LDS, which has 512", "reads ^, in wave 3 of workgroup (1, 2)"),
        ("uninitialised", "updates what nothing wrote, byte 0 of one",
         "updates what nothing wrote, one[0], in wave 3 of workgroup (1, 2): "
         "its role is out; inout with values gives it a beginning"),
        ("missing wait", "v1 is used", "^"),
    ],
)  # fmt: skip
def test_whose_fault_it_is(tmp_path: Path, kind: str, what: str, told: str) -> None:
    launch = replace(resolve(CASE, CASE.shapes), grid=(3, 4, 1))
    log = FindingLog(case=CASE, launch=launch, places=Places(ASSEMBLY, source_of(tmp_path)))
    log.fault(0, kind, 6, 0, what, (7, 3, ()))
    assert log.all()[0].what == told.replace("^", what)


def test_what_an_access_of_lds_does_is_read_from_its_instruction(log: FindingLog) -> None:
    log.fault(0, "out of bounds", 8, 0, "4 bytes at 512 of LDS, which has 512")
    assert log.all()[0].what == "writes 4 bytes at 512 of LDS, which has 512"


def test_equal_faults_are_one_finding_of_all_their_orders(log: FindingLog) -> None:
    for order in (0, 0, 2):
        log.fault(order, "race", 6, 8, "first")
        log.fault(order, "race", 8, 6, "the same pair, seen from the other side")
        log.fault(order, "missing wait", 8, 6, "another kind")
    race, wait = log.all()
    assert (race.kind, race.what, race.orders) == ("race", "first", (0, 2))
    assert (str(race.place), str(race.other)) == ("k.hip:3:9", "k.hip:4:5")
    assert (race.instruction, race.other_instruction) == ("ds_load_b32 v1, v0", "ds_store_b32 v0, v1")
    assert wait.kind == "missing wait"


def test_wrong_arrays_come_last(log: FindingLog) -> None:
    log.array(1, "wrong result", "x", "x[0, 0] is 1", None)
    log.fault(0, "race", 6, 8, "a race")
    log.array(1, "input changed", "x", "x[0, 0] was 1", None)
    assert [each.kind for each in log.all()] == ["race", "wrong result", "input changed"]
