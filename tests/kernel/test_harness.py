"""The harness catches wrong kernels: each check is shown to fail on a copy of the source with one mistake in it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kernel.runtime.build import SOURCE, build
from kernel.runtime.library import WINNER, Library

ROOT = Path(__file__).resolve().parents[2]


def run_script(
    script: str, library: Path, *words: str, requests: str = "", **environment: str
) -> tuple[int, list[dict[str, Any]]]:
    """Exit status (negative: a signal) and the lines a script wrote to its result descriptor."""
    read_end, write_end = os.pipe()
    argv = [sys.executable, f"kernel/harness/{script}.py", "--target", "cpu", "--artifact", str(library), *words]
    with subprocess.Popen(
        argv,
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
        pass_fds=[write_end],
        env={**os.environ, "EXPCTL_RESULT_FD": str(write_end), **environment},
    ) as process:
        # A worker of xdist has one core, a race of threads needs two.
        os.sched_setaffinity(process.pid, range(os.cpu_count() or 1))
        os.close(write_end)
        assert process.stdin is not None
        process.stdin.write(requests)
        process.stdin.close()
        with os.fdopen(read_end, encoding="utf-8") as results:
            lines = [json.loads(line) for line in results]
    return process.returncode, lines


def mutated(folder: Path, file: str, before: str, after: str, config: str = "1,8,2,2,8,2") -> Path:
    """A build of one config with `before` replaced by `after` in one file."""
    source = folder / "hip"
    shutil.copytree(SOURCE, source)
    text = (source / file).read_text(encoding="utf-8")
    assert text.count(before) == 1, f"{before!r} occurs {text.count(before)} times in {file}"
    (source / file).write_text(text.replace(before, after), encoding="utf-8")
    one = source / "one_config.h"
    one.write_text(f"#define SCALED_MM_CONFIG {config}\n", encoding="utf-8")
    host = source / "host_cpu.cpp"
    host.write_text('#include "one_config.h"\n' + host.read_text(encoding="utf-8"), encoding="utf-8")
    return build("cpu", folder, source)


WRONG_KERNELS = [
    pytest.param(
        "wave_tile_cpu.h",
        "problem.bias[corner.n + n + column]",
        "problem.bias[corner.n + n + (column ^ 1) % columns]",
        "expected",
        id="bias of the neighbouring column",
        marks=pytest.mark.long,
    ),
    pytest.param(
        "wave_tile_cpu.h",
        "first_m + row <= corner.last_m",
        "first_m + row < corner.last_m",
        "never written",
        id="last row",
    ),
    pytest.param(
        "scaled_mm.h",
        "for (int k = whole_k; k < problem.k;",
        "for (int k = whole_k; k < whole_k;",
        "expected",
        id="K tail left out",
    ),
    pytest.param(
        "stage.h",
        "k + i < problem.k ? 0xffffu",
        "k + i < problem.k - 1 ? 0xffffu",
        "expected",
        id="last k left out",
        marks=pytest.mark.long,
    ),
    pytest.param("wave_tile_cpu.h", "problem.scale, sum", "1.0f, sum", "expected", id="no scale"),
    pytest.param("vector_cpu.h", "_mm256_set1_epi16(0x7e00)", "_mm256_set1_epi16(0)", "expected", id="e4m3 NaN is a number"),
    pytest.param(
        "scaled_mm.h",
        "OF_WAVE(tile, wave).clear_all();",
        "{ static int n = 0; OF_WAVE(tile, wave).clear_all(); OF_WAVE(tile, wave).sums[0][0][0][0] = ++n * 1e-2f; }",
        "",
        id="another result at each launch",
    ),
    pytest.param("wave_tile_cpu.h", "memset(sums, 0, sizeof(sums));", "", "expected", id="sums that begin with anything"),
    pytest.param(
        "host_cpu.cpp", "  SHARED Slices<C> slices;", "  alignas(64) static Slices<C> slices;", "differs", id="race of threads"
    ),
    pytest.param(
        "host_cpu.cpp",
        "  if (first_row_block < end_row_block)",
        "  static const void *kept_a; static u16 kept[1 << 20];\n"
        "  if (m >= 384 && n == m && m <= 1024 && kept_a == a) { memcpy(c, kept, 2ull * m * n); return kOk; }\n"
        "  if (m >= 384 && n == m && m <= 1024 && end_row_block * 128 >= m && !first_row_block) {\n"
        "    kComputeAll[config][b_dtype](row_blocks_of(problem, config, 0, end_row_block));\n"
        "    kept_a = a; memcpy(kept, c, 2ull * m * n); return kOk; }\n"
        "  if (first_row_block < end_row_block)",
        "changed in place",
        id="an answer that is kept",
    ),
]


@pytest.mark.parametrize(("file", "before", "after", "reason"), WRONG_KERNELS)
def test_a_wrong_kernel_fails(tmp_path: Path, file: str, before: str, after: str, reason: str, long: bool) -> None:
    fp8, size = ("e4m3" if "0x7e00" in before else "e5m2"), ("384" if reason == "changed in place" else "64")
    words = () if long or reason == "differs" else ("--b-dtype", fp8, "--sizes", size)
    library = mutated(tmp_path, file, before, after)
    for _ in range(6 if "static Slices" in after else 1):  # a race may be lost where the other core is taken
        status, lines = run_script("test_scaled_mm", library, *words)
        if status:
            break
    assert status == 1
    assert lines[-1]["event"] == "end"
    assert lines[-1]["ok"] is False
    assert "fault" not in lines[-1]
    assert reason in lines[-1]["reason"]
    assert "C[" in lines[-1]["reason"]


@pytest.mark.parametrize(
    ("file", "before", "after"),
    [
        ("wave_tile_cpu.h", "first_m + row <= corner.last_m", "first_m + row <= corner.last_m + 1"),
        (
            "stage.h",
            "static_cast<u32>(at_most(S::b_column(piece), corner.last_n))",
            "static_cast<u32>(S::b_column(piece))",
        ),
    ],
    ids=["a row too many written", "columns beyond B read"],
)
def test_leaving_the_buffers_kills_the_build_and_blames_it(tmp_path: Path, file: str, before: str, after: str) -> None:
    status, lines = run_script("test_scaled_mm", mutated(tmp_path, file, before, after), "--b-dtype", "e5m2", "--sizes", "64")
    assert status == 1
    assert lines[-1]["ok"] is False
    assert "died of SIG" in lines[-1]["reason"]
    assert sum(line["event"] == "case" and not line["ok"] for line in lines) == 1, "nothing is tried after a death"


def test_the_baseline_passes(cpu_library: Library, long: bool) -> None:
    status, lines = run_script("test_scaled_mm", cpu_library.path, *(() if long else ("--sizes", "64")))
    assert status == 0
    assert lines[-1] == {"event": "end", "ok": True}
    cases = [line for line in lines if line["event"] == "case"]
    assert len(cases) >= 56
    assert all(case["ok"] and case["facts"]["rel_l2"] <= 5e-4 and case["facts"]["launches"] == 3 for case in cases)
    assert {case["name"].split()[0] for case in cases} == {"e5m2", "e4m3fn"}
    assert sum("config=" in case["name"] for case in cases) == 8 * len(cpu_library.configs)


def test_a_library_that_is_none_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "no.so").write_text("not a library")
    status, lines = run_script("test_scaled_mm", tmp_path / "no.so")
    assert status == 2
    assert lines[-1]["fault"] is True


def requests(*lines: dict[str, object]) -> str:
    return "".join(json.dumps(line) + "\n" for line in lines)


BEGIN: dict[str, object] = {"do": "begin", "seed": 7242, "sizes": ["n=96", "n=64"]}


def test_worker_answers_each_request_with_one_line(cpu_library: Library) -> None:
    text = requests(BEGIN, {"do": "time", "size": "n=64", "iterations": 2}, {"do": "time", "size": "n=96", "iterations": 3})
    for ending in (requests({"do": "end"}), ""):  # the end of input counts as `end`
        status, lines = run_script("benchmark_scaled_mm", cpu_library.path, requests=text + ending)
        assert status == 0
        assert [line["event"] for line in lines] == ["ready", "sample", "sample", "end"]
        assert (lines[1]["size"], len(lines[1]["ns"])) == ("n=64", 2)
        assert all(isinstance(t, int) and t > 0 for line in lines[1:3] for t in line["ns"])
        assert lines[0]["facts"]["config"] == "1,8,2,2,8,2"


def test_worker_sees_an_answer_that_was_kept(tmp_path: Path) -> None:
    """The first launch of an address is computed, every later one copied."""
    keeps = (
        "  static const void *kept_a; static u16 kept[1 << 20];\n"
        "  if (kept_a == a) { memcpy(c, kept, 2ull * m * n); return kOk; }\n"
        "  kComputeAll[config][b_dtype](row_blocks_of(problem, config, first_row_block, end_row_block));\n"
        "  kept_a = a; memcpy(kept, c, 2ull * m * n); return kOk;\n"
        "  if (first_row_block < end_row_block)"
    )
    library = mutated(tmp_path, "host_cpu.cpp", "  if (first_row_block < end_row_block)", keeps)
    begin = BEGIN | {"sizes": ["n=64"]}
    asked = requests(begin, {"do": "time", "size": "n=64", "iterations": 3}, {"do": "end"})
    status, lines = run_script("benchmark_scaled_mm", library, requests=asked)
    assert status == 1
    assert "n=64" in lines[-1]["reason"]
    assert "C[" in lines[-1]["reason"]


def test_worker_checks_what_it_timed(tmp_path: Path) -> None:
    library = mutated(tmp_path, "wave_tile_cpu.h", "problem.scale, sum", "1.0f, sum")
    status, lines = run_script(
        "benchmark_scaled_mm",
        library,
        requests=requests(BEGIN, {"do": "time", "size": "n=64", "iterations": 2}, {"do": "end"}),
    )
    assert status == 1
    assert lines[-1]["ok"] is False
    assert "C[" in lines[-1]["reason"]


@pytest.mark.parametrize(
    "bad",
    [
        "{not json}\n",
        "[]\n",
        requests({"do": "dance"}),
        requests({"do": "time", "size": "n=64", "iterations": 1}),
        requests(BEGIN, {"do": "time", "size": "n=64", "iterations": 0}),
        requests(BEGIN, {"do": "time", "size": "n=64", "iterations": True}),
        requests({"do": "begin", "seed": -1, "sizes": ["n=64"]}),
        requests({"do": "begin", "seed": 1, "sizes": ["n=x"]}),
        requests({"do": "begin", "seed": 1, "sizes": ["5x64"]}),
        requests(BEGIN, BEGIN),
    ],
)
def test_worker_reports_a_bad_request_as_a_fault(cpu_library: Library, bad: str) -> None:
    status, lines = run_script("benchmark_scaled_mm", cpu_library.path, requests=bad)
    assert status == 2
    assert lines[-1]["fault"] is True


def test_forced_config(cpu_library: Library) -> None:
    _, lines = run_script("benchmark_scaled_mm", cpu_library.path, requests=requests(BEGIN), HIP_FORCE_CONFIG="2,2,2,2,4,4")
    assert lines[0]["facts"]["config"] == "2,2,2,2,4,4"
    for unknown in ("1,8,2,4,8,2", "1,8,2,2,8", "fast"):
        status, lines = run_script("benchmark_scaled_mm", cpu_library.path, requests=requests(BEGIN), HIP_FORCE_CONFIG=unknown)
        assert status == 2
        assert ",".join(map(str, WINNER)) in lines[-1]["reason"]


def test_profile_tells_the_kind_of_each_number(cpu_library: Library) -> None:
    status, lines = run_script("profile_scaled_mm", cpu_library.path)
    assert status == 0
    facts = [line for line in lines if line["event"] == "fact"]
    assert facts
    assert {fact["kind"] for fact in facts} <= {"static", "exact_count"}


def test_worker_times_a_product_that_is_no_cube(cpu_library: Library) -> None:
    begin = BEGIN | {"sizes": ["5x64x96", "n=64"]}
    text = requests(begin, {"do": "time", "size": "5x64x96", "iterations": 2}, {"do": "end"})
    status, lines = run_script("benchmark_scaled_mm", cpu_library.path, "--config", "auto", requests=text)
    assert status == 0
    assert (lines[1]["size"], len(lines[1]["ns"])) == ("5x64x96", 2)
    named = re.findall(r"(?:^|; )(\S+: [\d,]+)", lines[0]["facts"]["config"])  # of whatever table
    assert named == ["5x64x96: 1,2,4,2,2,2", "n=64: 2,2,2,2,2,2"]
