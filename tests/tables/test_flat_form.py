"""The older flat form is read, converted, and written again; and a config's arithmetic agrees with the compiler."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from expctl.tables.facts import made_here
from expctl.tables.flat_form import exported, imported
from expctl.tables.folder import DEFAULT, read_files
from expctl.tables.operations import config_fault, settings_of
from expctl.tables.table import BadTable
from tests.tables.malformed import OP, SMALL, WINNER

HERE = {"compiler": "triton 3.7.0", "driver": "amdgpu 6.16", "device": "MI355X"}
TUNED = {
    "BLOCK_SIZE_M": 64, "BLOCK_SIZE_N": 128, "BLOCK_SIZE_K": 256, "GROUP_SIZE_M": 1, "num_warps": 8, "num_stages": 2,
    "waves_per_eu": 4, "matrix_instr_nonkdim": 16, "kpack": 1, "cache_modifier": ".cg", "NUM_KSPLIT": 1,
}  # fmt: skip
"""The winner of the pull request that the form comes from."""
FLAT = {
    "gfx950-BATCHED_GEMM-A16WFP4.json": json.dumps(
        {"M_LEQ_16": {"BLOCK_SIZE_M": 16}, "any": {"cache_modifier": None}}
    ).encode(),
    "gfx950-BATCHED_GEMM-A16WFP4-N=128-K=512.json": json.dumps({"M_LEQ_16": {"BLOCK_SIZE_M": 16}, "any": TUNED}).encode(),
}


def test_flat_tables_are_read_and_come_back_as_they_were() -> None:
    found = imported(FLAT, HERE)
    place = "gfx950/hip/gemm/batched_gemm_a16wfp4/"
    assert list(found) == [f"{place}BATCHED_GEMM-A16WFP4-N=128-K=512.json", f"{place}{DEFAULT}"]
    folder = read_files("batched_gemm_a16wfp4", {name.removeprefix(place): raw for name, raw in found.items()})
    assert folder.look_up(300, 128, 512).settings == TUNED
    assert folder.tables[DEFAULT].made_with == HERE
    back = exported("gfx950", "batched_gemm_a16wfp4", {name.removeprefix(place): raw for name, raw in found.items()})
    assert {name: json.loads(raw) for name, raw in back.items()} == {name: json.loads(raw) for name, raw in FLAT.items()}


def test_our_own_tables_in_the_flat_form_are_checked_like_others() -> None:
    good = f'{{"M_LEQ_16": {SMALL}, "any": {WINNER}}}'
    found = imported({"cpu-SCALED_MM-A16W8-E5M2.json": good.encode()}, HERE)
    assert list(found) == [f"cpu/hip/gemm/{OP}/{DEFAULT}"]
    with pytest.raises(BadTable, match="kpack unknown"):
        imported({"cpu-SCALED_MM-A16W8-E5M2.json": b'{"any": {"kpack": 1}}'}, HERE)


@pytest.mark.parametrize(
    ("name", "text", "word"),
    [
        ("GEMM.json", '{"any": {"A": 1}}', "expected a name"),
        ("gfx950-GEMM-N=128-K=512.json", '{"any": {"A": 1}}', "DEFAULT.json"),
        ("gfx950-GEMM.json", '{"made_with": {}, "any": {"A": 1}}', "object"),
        ("gfx950-GEMM.json", '{"made_with": {"a": "b"}, "any": {"A": 1}}', "older form"),
        ("gfx950-GEMM.json", '{"any": {"A": [1]}}', "a whole number"),
    ],
)
def test_what_is_none_is_refused(name: str, text: str, word: str) -> None:
    if word == "object":
        imported({name: text.encode()}, HERE)  # an empty one says nothing
        return
    with pytest.raises(BadTable, match=word):
        imported({name: text.encode()}, HERE)


HIP = Path(__file__).parents[2] / "kernel/hip"
BUILDS = ("1,8,2,2,8,2", "2,2,2,2,4,4", "1,2,4,2,2,2", "2,4,4,2,4,2", "1,1,2,2,1,1")
DOES_NOT = ("1,8,3,2,8,2", "8,8,2,2,1,1", "4,16,2,2,1,1", "1,8,2,2,8,4", "4,2,2,2,8,2", "1,4,2,2,1,2")
RINGS = ("1,8,4,5,8,2", "1,8,4,7,8,1", "1,8,8,6,4,1", "1,8,8,8,2,1", "1,8,8,9,1,1", "1,4,4,3,8,2", "1,16,4,3,4,1")
NO_RINGS = ("2,8,4,5,8,1", "1,6,4,5,8,2", "1,4,4,5,8,1", "1,8,2,5,8,2", "1,8,12,3,2,1", "1,8,8,12,1,1", "1,8,4,6,8,2")
CONFIGS = {**dict.fromkeys((*BUILDS, *RINGS), True), **dict.fromkeys((*DOES_NOT, *NO_RINGS), False)}


@pytest.mark.parametrize(("config", "builds"), CONFIGS.items())
def test_the_arithmetic_of_a_config_agrees_with_the_static_assertions(config: str, builds: bool, tmp_path: Path) -> None:
    source = tmp_path / "one.cpp"
    is_ring = config in RINGS + NO_RINGS
    source.write_text(
        f"{_ring()}\ntemplate struct Ring<{config}>;\n"
        if is_ring
        else f'#include "{HIP / "config.h"}"\ntemplate struct scaled_mm::Config<{config}>;\n'
    )
    argv = [sys.executable, "-m", "ziglang", "clang", "-x", "c++", "-std=c++17", "-fsyntax-only", str(source)]
    compiled = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert (compiled.returncode == 0) is builds, compiled.stderr
    assert builds or "static assertion failed" in compiled.stderr
    assert (config_fault(settings_of(config)) == "") is builds


def _ring() -> str:
    """Return what sm_90's headers say of a ring, without the headers of CUDA that they include."""
    memory, packing = ((HIP / "sm_90" / name).read_text() for name in ("ring_memory.h", "packing.h"))
    struct = memory[memory.index("template <int kWarpsM") : memory.index("\n};") + 4]
    constants = re.findall(r"^constexpr int kPacked.*$", packing, re.MULTILINE)
    return "\n".join(["#define METHOD", "constexpr int kFragment = 16, kWaveLanes = 32;", *constants, struct])


def test_too_much_lds_is_seen_which_no_assertion_says() -> None:
    assert config_fault(settings_of("1,8,16,2,8,2")) == "131072 bytes of LDS, expected at most 65536"


def test_facts_of_this_machine(tmp_path: Path) -> None:
    places = {
        "proc/cpuinfo": "processor: 0\nmodel name\t: AMD  EPYC 9R14\n",
        "proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build\n",
        "proc/driver/nvidia/gpus/0/information": "Model: \t\t NVIDIA H200\nIRQ: 5\n",
        "sys/module/amdgpu/version": "6.16.6\n",
        "sys/class/kfd/kfd/topology/nodes/0/properties": "gfx_target_version 0\n",
        "sys/class/kfd/kfd/topology/nodes/1/properties": "simd_count 2\ngfx_target_version 110501\n",
    }
    for place, text in places.items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(text)
    told = {"nvcc": "Build cuda_12.9.r12.9/compiler.36037853_0"}
    assert made_here("cpu", {"ziglang": "0.16.0", "elftools": "0.33"}, tmp_path) == {
        "compiler": "ziglang 0.16.0",
        "driver": "",
        "device": "AMD EPYC 9R14",
    }
    assert made_here("sm_90", told, tmp_path) == {
        "compiler": "nvcc 12.9",
        "driver": "nvidia 570.86.15",
        "device": "NVIDIA H200",
    }
    assert made_here("gfx1151", {"hipcc": "HIP version: 7.1.2, AMD clang version 20"}, tmp_path) == {
        "compiler": "hipcc 7.1.2",
        "driver": "amdgpu 6.16.6",
        "device": "gfx target 110501",
    }
    assert made_here("cpu", {}, tmp_path / "none") == {"compiler": "", "driver": "", "device": ""}
