"""`expctl inspect` and `expctl occupancy` as typed, in a folder that is no repository and with no compiler on PATH."""

import json
from pathlib import Path

import pytest

from expctl.inspection.device_compiler import Options, compile_source
from tests.e2e.foreign import Answer, run_expctl
from tests.refusals import printed_code

pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")

SOURCE = """\
#include <hip/hip_runtime.h>
__global__ void __launch_bounds__(64) twice(float *x) { x[threadIdx.x] *= 2.0f + SCALED_MM_CONFIG; }
"""
KEYS = {
    "vgpr", "sgpr", "lds_bytes", "scratch_bytes", "spills", "code_bytes", "occupancy", "limiter", "headroom", "instructions",
    "hot_loop", "code_hash",
}  # fmt: skip


def expctl(folder: Path, *words: str) -> Answer:
    environment = {"PATH": str(folder), "HOME": str(folder), "LANG": "C.UTF-8", "GIT_CEILING_DIRECTORIES": str(folder.parent)}
    return run_expctl(words, folder, environment)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.hip").write_text(SOURCE)
    (tmp_path / "two.hip").write_text(
        SOURCE.replace("0f + SCALED_MM_CONFIG", "0f") + "__global__ void other(int *x) { *x = 1; }\n"
    )
    (tmp_path / "a.txt").write_text("hello\n")
    (tmp_path / "none.cpp").write_text("void f() {}\n")
    return tmp_path


@pytest.fixture(scope="session")
def small_text(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An assembly of SOURCE."""
    path = tmp_path_factory.mktemp("small") / "small.hip"
    path.write_text(SOURCE)
    return compile_source(path, Options(arch="gfx1151", defines=("SCALED_MM_CONFIG=1",))).assembly


def test_one_kernel_stands_at_the_top_and_in_the_list(folder: Path) -> None:
    answer = expctl(folder, "inspect", "a.hip", "--config", "3", "--json")
    assert answer.status == 0, answer.err
    facts = json.loads(answer.out)
    assert set(facts) > KEYS
    assert facts["kernels"][0] == {key: facts[key] for key in facts["kernels"][0]}
    assert (facts["arch"], facts["form"], facts["lds_bytes"], facts["hot_loop"]) == ("gfx1151", "HIP source", 0, None)
    assert facts["instructions"]["global load narrow"] == 1
    assert expctl(folder, "inspect", "a.hip", "-D", "SCALED_MM_CONFIG=3", "--json").out == answer.out


def test_several_kernels_are_a_list(folder: Path) -> None:
    facts = json.loads(expctl(folder, "inspect", "two.hip", "--json").out)
    assert set(facts) == {"schema", "file", "form", "arch", "compiler", "kernels", "notes"}
    assert all(set(each) > KEYS for each in facts["kernels"])
    assert [each["name"] for each in facts["kernels"]] == ["_Z5twicePf", "_Z5otherPi"]
    answer = expctl(folder, "inspect", "two.hip", "--kernel", "other")
    assert "_Z5otherPi" in answer.out
    assert "_Z5twicePf" not in answer.out


def test_a_difference_either_way(folder: Path, small_text: str) -> None:
    (folder / "b.hip").write_text(SOURCE.replace("*=", "+="))
    plain = expctl(folder, "inspect", "a.hip", "b.hip", "--config", "1")
    assert "_Z5twicePf  machine code differs" in plain.out
    facts = json.loads(expctl(folder, "inspect", "a.hip", "--diff", "b.hip", "--config", "1", "--json").out)
    assert facts["kernels"][0]["same_code"] is False
    assert {each["name"] for each in facts["kernels"][0]["figures"]} >= {"vgpr", "occupancy", "code_bytes"}
    (folder / "small.s").write_text(small_text)
    same = json.loads(expctl(folder, "inspect", "small.s", "small.s", "--json").out)
    assert same["kernels"][0]["same_code"] is True


ERRORS = {
    ("missing.hip",): (1, "file-missing"),
    (".",): (1, "no-triton-cache"),
    ("a.hip",): (1, "does-not-compile"),
    ("a.hip", "--config", "one"): (2, "not-a-config"),
    ("a.hip", "b.hip", "--diff", "c.hip"): (2, "two-files-to-compare"),
    ("a.hip", "-O", "9"): (2, "not-an-optimization-level"),
    ("a.hip", "--arch", "sm_90"): (1, "not-an-amd-gpu"),
    ("a.hip", "--config", "1", "--arch", "gfx9999"): (1, "does-not-compile"),
    ("two.hip", "--kernel", "third"): (1, "kernel-not-in-file"),
    ("two.hip", "--arch", ""): (2, "option-empty"),
    ("two.hip", "--config", ""): (2, "option-empty"),
    ("a.txt",): (1, "not-inspectable"),
    ("none.cpp",): (1, "no-kernel-in-file"),
    ("/dev/zero",): (1, "not-a-regular-file"),
    ("small.s", "-D", "A=1"): (2, "option-needs-source"),
    ("small.s", "small.s", "--config", "1", "-O", "2"): (2, "option-needs-source"),
}


@pytest.mark.parametrize("words", ERRORS)
def test_errors_say_what_to_do(folder: Path, small_text: str, words: tuple[str, ...]) -> None:
    (folder / "small.s").write_text(small_text)
    status, code = ERRORS[words]
    answer = expctl(folder, "inspect", *words)
    assert (answer.status, printed_code(answer.err)) == (status, code)
    assert "\n  next      " in answer.err
    assert "Traceback" not in answer.err


def test_a_source_beside_its_assembly_takes_options(folder: Path, small_text: str) -> None:
    (folder / "small.s").write_text(small_text)
    answer = expctl(folder, "inspect", "a.hip", "small.s", "--config", "1")
    assert "_Z5twicePf  machine code unchanged" in answer.out, answer.err


def test_the_levels_that_are_taken_are_named(folder: Path) -> None:
    for answer in (expctl(folder, "inspect", "a.hip", "-O", "9").err, expctl(folder, "inspect", "--help").out):
        assert "0, 1, 2, 3, s, z, fast" in answer


def test_a_refusal_as_json_is_text_on_standard_error(folder: Path) -> None:
    answer = expctl(folder, "inspect", "a.txt", "--json")
    assert (answer.status, answer.out, answer.err[:7]) == (1, "", "Error [")


def test_a_workgroup_that_cannot_be_launched(folder: Path) -> None:
    answer = expctl(folder, "occupancy", "--vgpr", "256", "--workgroup", "1024")
    assert "launch    impossible" in answer.out
    assert "one WGP has registers for 20 such waves" in answer.out
    assert "launch    impossible" not in expctl(folder, "occupancy", "--vgpr", "200", "--workgroup", "768").out


def test_the_calculator(folder: Path) -> None:
    words = ("occupancy", "--vgpr", "256", "--lds", "17408", "--workgroup", "128")
    answer = expctl(folder, *words)
    for figure in ("31.25 % (WGP)", "25.00 % (CU)", "naive     37.50 %"):
        assert figure in answer.out
    facts = json.loads(expctl(folder, *words, "--json").out)
    assert [each["percent"] for each in facts["resident"]] == [31.25, 25.0]
    assert facts["naive_percent"] == 37.5
    assert "32 waves" in expctl(folder, "occupancy", "--vgpr", "64", "--workgroup", "256", "--arch", "sm_90").out
    refused = expctl(folder, "occupancy", "--vgpr", "64", "--workgroup", "256", "--arch", "gfx906")
    assert (refused.status, "gfx1151" in refused.err) == (1, True)
