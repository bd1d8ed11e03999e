"""Times of calls, as a benchmark wrote them and out of kernel traces of rocprofv3, recorded and made up."""

import csv
import gzip
from pathlib import Path

import pytest

from expctl.domain.run.step_result import Failed
from expctl.suite.call_times import reported, traced

GOLDEN = Path(__file__).parents[1] / "profiles/golden"
HEAD = "Kind,Kernel_Name,Start_Timestamp,End_Timestamp\n"


def row(name: str, start: int, ns: int) -> str:
    return f"KERNEL_DISPATCH,{name},{start},{start + ns}\n"


def reason(found: object) -> str:
    assert isinstance(found, Failed)
    return found.reason


def test_recorded_trace(tmp_path: Path) -> None:
    with gzip.open(GOLDEN / "rocprofv3_7_gfx950_kernel_trace.csv.gz", "rt", newline="") as file:
        text = file.read()
    (tmp_path / "host").mkdir()
    (tmp_path / "host/1_kernel_trace.csv").write_text(text)
    rows = [each for each in csv.DictReader(text.splitlines()) if each["Kernel_Name"] == "gemm_prefetch"]
    rows.sort(key=lambda each: int(each["Start_Timestamp"]))
    wanted = [(int(each["End_Timestamp"]) - int(each["Start_Timestamp"])) / 1e3 for each in rows]
    assert len(wanted) == 210
    assert traced(tmp_path, "^gemm_prefetch$", None) == tuple(wanted)
    pairs = traced(tmp_path, "^gemm_prefetch$", 105)
    assert pairs == pytest.approx([one + two for one, two in zip(wanted[::2], wanted[1::2], strict=True)])
    assert "210 dispatches, which 100 calls can't share evenly" in reason(traced(tmp_path, "^gemm_prefetch$", 100))


def test_a_call_is_all_its_kernels_in_the_order_of_their_start(tmp_path: Path) -> None:
    rows = [row("mm", 200, 7000), row("mm", 100, 5000), row("add", 150, 30), row("add", 160, 40), row("add", 250, 50)]
    text = HEAD + "".join([*rows, row("add", 260, 60), row("copy", 1, 900000)])
    (tmp_path / "kernel_trace.csv").write_text(text)
    (tmp_path / "kernel_stats.csv").write_text("Name,Calls,TotalDurationNs,AverageNs\nmm,2,12000,6000\n")
    assert traced(tmp_path, "mm|add", None) == traced(tmp_path, "mm|add", 2) == (5.07, 7.11)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected one kernel trace"),
        (HEAD + row("other", 1, 5), "found 0; the profiler left trace.csv"),
        (HEAD + row("mm", 5, -3), "ends before it starts"),
        (HEAD + row("mm", 5, 95)[:-2], "cut off"),
        (HEAD + "KERNEL_DISPATCH,mm,x,9\n", "where an integer belongs"),
    ],
)
def test_traces_that_give_no_times(tmp_path: Path, text: str, said: str) -> None:
    if text:
        (tmp_path / "trace.csv").write_text(text)
    assert said in reason(traced(tmp_path, "mm", None))


def test_two_traces_with_the_kernel(tmp_path: Path) -> None:
    for name in ("1.csv", "2.csv"):
        (tmp_path / name).write_text(HEAD + row("mm", 5, 9))
    assert "found 2" in reason(traced(tmp_path, "mm", None))


def test_reported_times(tmp_path: Path) -> None:
    (tmp_path / "times.txt").write_text("5.5\n4\n\n1e3\n")
    assert reported(tmp_path) == (5.5, 4.0, 1000.0)


@pytest.mark.parametrize(
    ("text", "said"),
    [("4 us\n", "no number of us"), ("4\n0\n", "has 0"), ("nan\n", "has nan"), ("4\n-1", "has -1"), (None, "No such file")],
)
def test_reported_times_that_are_none(tmp_path: Path, text: str | None, said: str) -> None:
    if text is not None:
        (tmp_path / "times.txt").write_text(text)
    assert said in reason(reported(tmp_path))
