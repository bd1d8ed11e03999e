"""The script that times what torch users would take instead, on this CPU."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from expctl.domain.experiment.rivals import RivalReport, Role
from expctl.profiles.rival_report import read_rivals
from kernel.rivals import listing
from kernel.rivals.code_object import Driver, code_objects
from kernel.rivals.operands import Size, cast_bytes
from kernel.runtime.library import Library

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = "kernel/rivals/benchmark_rivals.py"


Ended = tuple[subprocess.CompletedProcess[str], list[dict[str, object]]]


def script(folder: Path, library: Library, *words: str, **environment: str) -> Ended:
    """How the script ended, and what it wrote to its result descriptor."""
    read_end, write_end = os.pipe()
    folder.mkdir(exist_ok=True)
    given = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(folder), "EXPCTL_RESULT_FD": str(write_end), **environment}
    argv = [sys.executable, SCRIPT, "--target", "cpu", "--artifact", str(library.path), *words]
    ran = subprocess.run(argv, cwd=ROOT, env=given, pass_fds=[write_end], capture_output=True, text=True)
    os.close(write_end)
    with os.fdopen(read_end, encoding="utf-8") as results:
        return ran, [json.loads(line) for line in results]


@pytest.mark.skipif(shutil.which("g++") is None, reason="inductor needs g++ for the CPU")
def test_a_cpu_is_compared_whole(cpu_library: Library, tmp_path: Path) -> None:
    out = tmp_path / "out"
    ran, said = script(tmp_path / "cache", cpu_library, "--sizes", "3x33x50", "--rounds", "3", "--out", str(out))
    assert said[-1]["ok"] is True, ran.stderr
    report = read_rivals(out)
    assert isinstance(report, RivalReport)
    (size,) = report.sizes
    assert (size.name, size.flop) == ("m=3 n=33 k=50", 2 * 3 * 33 * 50)
    assert report.environment["torch"] == torch.__version__
    by_name = {each.name: each for each in size.entries}
    assert [each.role for each in size.entries] == [Role.OURS, *[Role.RIVAL] * 3, *[Role.WALL] * 2]
    assert all(len(each.ns) == 3 for each in size.entries)
    assert all(each.rel_l2 is not None and each.rel_l2 < 1e-3 for each in size.entries[:-1])
    ours = by_name["this kernel"]
    assert [kernel.name for kernel in ours.kernels] == [f"scaled_mm_e5m2_{ours.config.replace(',', '_')}"]
    products = [(each.products, kernel.calls) for each in size.entries for kernel in each.kernels if kernel.name == "aten::mm"]
    assert products == [(10, 10)] * 5
    compiled = by_name["torch.compile, max-autotune"]
    assert compiled.cast_ns > 0
    assert (compiled.backends[0].name, compiled.backends[0].eligible) == ("ATEN", True)
    assert {each.name: each.why for each in compiled.backends}["CK"].startswith("not in max_autotune_gemm_backends")
    assert compiled.chosen.startswith("ATEN")
    assert not by_name["naive"].backends
    assert "torch.compile, default" in ran.stdout


def test_what_can_not_be_compiled_is_left_out_and_says_why(cpu_library: Library, tmp_path: Path) -> None:
    out = tmp_path / "out"
    ran, said = script(tmp_path / "cache", cpu_library, "--sizes", "16", "--rounds", "1", "--out", str(out), PATH=str(tmp_path))
    assert said[-1]["ok"] is True, ran.stderr
    report = read_rivals(out)
    assert isinstance(report, RivalReport)
    absent = {each.name: each.absent for each in report.sizes[0].entries if each.absent}
    assert list(absent) == ["torch.compile, default", "torch.compile, max-autotune"]
    assert "compiler" in absent["torch.compile, default"].lower()


@pytest.mark.parametrize(
    ("words", "stub", "reason"),
    [
        ((), "raise ModuleNotFoundError('no', name='torch')", "torch is not installed here: pip install 'expctl[torch]'"),
        (("--target", "sm_90"), "", "finds no GPU here"),
        (("--sizes", "64x64"), "", "a size is n or m x n x k, such as 4096 or 32x12288x2048, found '64x64'"),
    ],
)
def test_what_is_missing_is_said(words: tuple[str, ...], stub: str, reason: str, cpu_library: Library, tmp_path: Path) -> None:
    if stub:
        (tmp_path / "torch.py").write_text(stub)
    elif "sm_90" in words and torch.cuda.is_available():
        pytest.skip("there is a GPU")
    ran, said = script(tmp_path, cpu_library, *words, PYTHONPATH=f"{tmp_path}:{ROOT}")
    assert (ran.returncode, said[-1]["ok"], said[-1]["fault"]) == (2, False, True)
    assert reason in str(said[-1]["reason"])


def test_the_seeds_cast_is_counted_as_the_seed_counts_it() -> None:
    assert round(cast_bytes(Size.parse("8192"), torch.float16, result=True) / 1e6) == 201
    of_b, of_a, of_c = 5 * 7 * (1 + 4), 3 * 5 * (2 + 4), 3 * 7 * (2 + 4)
    assert cast_bytes(Size.parse("3x7x5"), torch.float32, result=False) == of_b + of_a
    assert cast_bytes(Size.parse("3x7x5"), torch.float32, result=True) == of_b + of_a + of_c


def test_the_driver_says_what_lies_in_one_code_object(tmp_path: Path) -> None:
    library = tmp_path / "libcuda.so"
    argv = [sys.executable, "-m", "ziglang", "cc", "-shared", "-fPIC", str(Path(__file__).with_name("fake_driver.c"))]
    subprocess.run([*argv, "-o", str(library)], check=True, capture_output=True)
    driver = Driver(str(library))
    assert code_objects(99, driver) == {"cast": ["cast"], "Cijk_MT128_EPS1": ["Cijk_MT128_EPS0", "Cijk_MT128_EPS1"]}
    assert [node.grid[0] for node in driver.nodes(99)] == [1234, 1234]
    with pytest.raises(OSError, match="cuGraphGetNodes returned 1"):
        code_objects(98, driver)


def test_another_process_keeps_away_from_the_result_descriptor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPCTL_RESULT_FD", "77")
    assert listing.process([sys.executable, "-c", "import os; print('EXPCTL_RESULT_FD' in os.environ)"]) == "False\n"
    with pytest.raises(RuntimeError, match=r"python.* ended with status 1: ZeroDivisionError"):
        listing.process([sys.executable, "-c", "1 / 0"])
