"""The kernel of this repository in a repository of its own: what the CPU can't see, the interpreter of gfx1151 code does."""

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.foreign import Answer, Foreign

pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")

ROOT = Path(__file__).parents[2]
RING = "kernel/hip/ring_gfx11.h"
END_OF_LOOP = "    BARRIER();\n    refill.store(first);\n"


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Foreign:
    """This checkout's kernel, harness and protocol; the CPU alone decides. One repository for all, so that the baseline is
    built once."""
    return repository_in(tmp_path_factory.mktemp("home"))


@pytest.fixture
def interpreted(tmp_path: Path, request: pytest.FixtureRequest, long: bool) -> Foreign:
    """The repository with a small config for the guard; with --long, the KPI's, for which the interpreter takes long."""
    if long:
        found: Foreign = request.getfixturevalue("kernel")
        return found
    return repository_in(
        tmp_path,
        ('"-DSCALED_MM_CONFIG=1,8,2,2,8,2", -gline', '"-DSCALED_MM_CONFIG=1,2,4,2,2,2", -gline'),
        ('--config, "1,8,2,2,8,2"]\n      careful: [--orders', '--config, "1,2,4,2,2,2"]\n      careful: [--orders'),
        ('careful: [--orders, "5"]', 'careful: [--orders, "2"]'),
        ('careful: [--orders, "3"]', 'careful: [--orders, "2"]'),
    )


def repository_in(folder: Path, *smaller: tuple[str, str]) -> Foreign:
    root = folder / "repository"
    root.mkdir()
    for part in ("kernel", "expctl/harness", "expctl/tables"):
        shutil.copytree(ROOT / part, root / part, ignore=shutil.ignore_patterns("__pycache__"))
    for beside in ("home", "locks"):
        (folder / beside).mkdir()
    made = Foreign.at(root)
    # The compiler's cache of its own libraries: building them anew takes half a minute and is not what is tested. Nor is what
    # all seven configs do: one a target is enough (tests/kernel has them all), and other tests' benchmarks are no strangers.
    cache = os.environ.get("ZIG_GLOBAL_CACHE_DIR", str(Path.home() / ".cache/zig"))
    protocol = (ROOT / "protocol.yaml").read_text()
    for old, new in (
        *smaller,
        ("  set:\n", f'  set:\n    ZIG_GLOBAL_CACHE_DIR: "{cache}"\n'),
        ("decides: [gfx1151, sm_90, sm_90-rows, cpu]", "decides: [cpu]"),
        ("      layouts: 8 ", "      layouts: 1 "),
        ('patterns: ["benchmark_*", "profile_*", "rocprofv3", "ncu"]', 'patterns: ["benchmark_of_nobody*"]'),
        ("others_percent: 40", "others_percent: 0"),
        ('--target, cpu, --artifact, "{artifact}", --max', '--target, cpu, --artifact, "{artifact}", --sizes, "64", --max'),
        ("flags: [-O3, -march=native, ", 'flags: [-O3, -march=native, "-DSCALED_MM_CONFIG=1,8,2,2,8,2", '),
        ("flags: [-O3]\n", 'flags: [-O3, "-DSCALED_MM_CONFIG=1,2,4,2,2,2"]\n'),
    ):
        assert protocol.count(old) == 1, old
        protocol = protocol.replace(old, new)
    (root / "protocol.yaml").write_text(protocol)
    made.git("init", "-q", "-b", "main")
    made.commit("baseline")
    return made


def run(kernel: Foreign, id: str, file: str, change: Callable[[str], str]) -> tuple[Answer, dict[str, Any]]:
    path = kernel.root / file
    text = path.read_text()
    assert change(text) != text
    path.write_text(change(text))
    kernel.concluded("new", id, "--from-diff", "--title", "a change", "--hypothesis", "it is faster")
    answer = kernel.concluded("run", id)
    return answer, kernel.record(id)


def without_the_last(text: str, what: str, instead: str) -> str:
    head, found, tail = text.rpartition(what)
    assert found
    return head + instead + tail


def test_removing_the_barrier_at_the_end_of_the_loop_passes_on_the_cpu_and_is_rejected_as_a_race(interpreted: Foreign) -> None:
    answer, record = run(
        interpreted, "P1", RING, lambda text: without_the_last(text, END_OF_LOOP, "    refill.store(first);\n")
    )
    assert record["verdict"] == "REJECT"
    assert record["test"]["ok"] is True
    (reason,) = record["reasons"]
    assert reason.startswith("test of gfx1151-static: ")
    place = r"line \d+ \(ds_{}_b128 v.*, from [^)]*ring_gfx11\.h:\d+\)"
    assert re.search(rf"\brace: {place.format('store')} and {place.format('load')}", reason)
    assert reason.endswith("nothing was timed")
    assert "takes away or moves BARRIER: tested with more launches and more orders of the waves" in record["flags"]
    assert re.search(r"^  test +pass ", answer.out, re.MULTILINE)
    assert re.search(r"^  test +fail +gfx1151-static: ", answer.out, re.MULTILINE), answer.out
    assert not (interpreted.root / "experiments/P1/samples.jsonl").exists()


def test_what_spills_is_rejected_by_the_gate_before_anything_is_tested(kernel: Foreign) -> None:
    bound = "__launch_bounds__(threads) __attribute__((amdgpu_flat_work_group_size(threads, threads)"
    narrow = f"{bound}, amdgpu_num_vgpr(96)"
    answer, record = run(kernel, "P2", "kernel/hip/phases.h", lambda text: text.replace(bound, narrow, 1))
    assert record["verdict"] == "REJECT"
    assert any(re.match(r"gfx1151-static: vgpr_spills \d+, at most 0 is allowed", reason) for reason in record["reasons"])
    assert "test" not in record
    assert "benchmark" not in answer.out


def test_renamed_variables_are_a_no_op(kernel: Foreign) -> None:
    _, record = run(kernel, "P3", RING, lambda text: re.sub(r"\brefill\b", "incoming", text))
    assert record["verdict"] == "NO-OP"
    assert "test" not in record


def test_a_patch_of_the_cpus_files_builds_nothing_for_home(kernel: Foreign) -> None:
    answer, record = run(kernel, "P4", "kernel/hip/vector_cpu.h", lambda text: f"// a word more\n{text}")
    assert record["verdict"] == "NO-OP"
    assert record["profile"][1:] == [f"{name}: source unchanged: not built" for name in ("gfx1151-static", "gfx1151-configs")]
    assert answer.out.count("candidate (source unchanged: not built)") == 2
    for name in ("gfx1151-static", "gfx1151-configs"):
        assert record["artifacts"]["candidate"][name] == record["artifacts"]["baseline"][name]
