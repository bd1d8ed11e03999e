"""A hipcc that fails on the candidate, in every way that it can: a verdict with its message, and nothing is left."""

import re
from pathlib import Path

import pytest

from tests.e2e.foreign import FASTER, Foreign, errors_in
from tests.e2e.rocm.machine import calls

NAMES = ["HIP_FORCE_CONFIG", "HSA_OVERRIDE_GFX_VERSION"]


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        (
            "error",
            r"src/total\.py:71:19: error: '__builtin_amdgcn_cvt_pk_f16_fp8' needs target feature gfx1250",
        ),
        ("crash", r"clang\+\+: error: unable to execute command: Segmentation fault"),
        ("killed", r"hipcc died of SIGSEGV"),
        ("hang", r"hipcc did not end within 2 s"),
        ("nothing", r"the build ended without writing total\.py"),
        ("garbage", r"the build wrote a damaged total\.py: Reading section 0 at offset"),
    ],
)
def test_a_build_that_fails(rocm: Foreign, tmp_path: Path, mode: str, said: str) -> None:
    rocm.edit_protocol("flags: [-O3]}", "flags: [-O3], timeout_s: 2}")
    (tmp_path / "hipcc mode").write_text(mode)
    rocm.queue("P1", FASTER)
    rocm.concluded("run", "P1")
    record = rocm.record("P1")
    assert (record["verdict"], record["target"]) == ("REJECT", "gfx1151")
    assert re.search(said, " ".join(record["reasons"])), record["reasons"]
    assert not any(call.startswith("rocprofv3") for call in calls(rocm))
    rocm.check_nothing_is_left()


def test_its_version_is_in_the_record_without_folders(rocm: Foreign, tmp_path: Path) -> None:
    (tmp_path / "hipcc mode").write_text("error")
    rocm.queue("P1", FASTER)
    rocm.concluded("run", "P1")
    told = rocm.record("P1")["environment"]["hipcc"]
    assert told.startswith("HIP version: 7.1.0-stand-in, AMD clang version 20.0.0git")


def test_variables_of_the_shell_reach_the_steps_and_the_record(rocm: Foreign) -> None:
    rocm.edit_protocol("environment:\n", "environment:\n  pass_through: [" + ", ".join(NAMES) + "]\n")
    text = (rocm.root / "bench/benchmark.py").read_text()
    ready = 'say(event="ready", facts={"config": " ".join(map(os.environ.get, NAMES))})'
    rocm.write("bench/benchmark.py", f"import os\nNAMES = {NAMES}\n" + text.replace('say(event="ready")', ready))
    rocm.commit("a harness that names its config")
    rocm.environment |= {"HIP_FORCE_CONFIG": "1,8,2,2,8,2", "HSA_OVERRIDE_GFX_VERSION": "11.5.1", "HSA_XNACK": "1"}
    rocm.queue("P1", FASTER)
    rocm.concluded("run", "P1")
    record = rocm.record("P1")
    assert record["environment"]["variables"] == "HIP_FORCE_CONFIG=1,8,2,2,8,2 HSA_OVERRIDE_GFX_VERSION=11.5.1"
    assert "config 1,8,2,2,8,2 11.5.1" in record["notes"]
    rocm.check_nothing_is_left()


def test_without_hipcc_there_is_one_message(rocm: Foreign, tmp_path: Path) -> None:
    (tmp_path / "bin" / "hipcc").unlink()
    rocm.queue("P1", FASTER)
    answer = rocm.expctl("run", "P1", "--target", "gfx1151")
    assert (answer.status, len(errors_in(answer.err))) == (1, 1)
    assert "gfx1151: unavailable: no hipcc on PATH" in answer.err
    assert re.search(r"^  next +plug in a Strix Halo$", answer.err, re.MULTILINE)
