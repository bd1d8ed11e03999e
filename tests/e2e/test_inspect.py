"""`expctl inspect` and `expctl occupancy` as typed, in a folder that is no repository and with no compiler on PATH."""

import json
import subprocess
from pathlib import Path

import pytest
from foreign import EXPCTL, Answer

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
    ended = subprocess.run([EXPCTL, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    return Answer(ended.returncode, ended.stdout, ended.stderr)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.hip").write_text(SOURCE)
    (tmp_path / "two.hip").write_text(
        SOURCE.replace("0f + SCALED_MM_CONFIG", "0f") + "__global__ void other(int *x) { *x = 1; }\n"
    )
    return tmp_path


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
    assert set(facts) == {"file", "form", "arch", "compiler", "kernels", "notes"}
    assert all(set(each) > KEYS for each in facts["kernels"])
    assert [each["name"] for each in facts["kernels"]] == ["_Z5twicePf", "_Z5otherPi"]
    answer = expctl(folder, "inspect", "two.hip", "--kernel", "other")
    assert "_Z5otherPi" in answer.out
    assert "_Z5twicePf" not in answer.out


def test_a_difference_either_way(folder: Path) -> None:
    (folder / "b.hip").write_text(SOURCE.replace("*=", "+="))
    plain = expctl(folder, "inspect", "a.hip", "b.hip", "--config", "1")
    assert "_Z5twicePf  machine code differs" in plain.out
    facts = json.loads(expctl(folder, "inspect", "a.hip", "--diff", "b.hip", "--config", "1", "--json").out)
    assert facts["kernels"][0]["same_code"] is False
    assert {each["name"] for each in facts["kernels"][0]["figures"]} >= {"vgpr", "occupancy", "code_bytes"}
    same = json.loads(expctl(folder, "inspect", "a.hip", "a.hip", "--config", "1", "--json").out)
    assert same["kernels"][0]["same_code"] is True


ERRORS = {
    ("missing.hip",): (1, "there is no file missing.hip"),
    (".",): (1, ". is a folder"),
    ("a.hip",): (1, "this file does not compile"),
    ("a.hip", "--config", "one"): (2, "this is no config"),
    ("a.hip", "b.hip", "--diff", "c.hip"): (2, "what is compared with what?"),
    ("a.hip", "-O", "9"): (2, "this is no optimization level"),
    ("a.hip", "--arch", "sm_90"): (1, "sm_90 is no AMD GPU"),
    ("a.hip", "--config", "1", "--arch", "gfx9999"): (1, "this file does not compile"),
    ("two.hip", "--kernel", "third"): (1, "two.hip has no kernel third"),
}


@pytest.mark.parametrize("words", ERRORS)
def test_errors_say_what_to_do(folder: Path, words: tuple[str, ...]) -> None:
    status, message = ERRORS[words]
    answer = expctl(folder, "inspect", *words)
    assert answer.status == status
    assert answer.err.startswith(f"Error: {message}")
    assert "Traceback" not in answer.err


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
