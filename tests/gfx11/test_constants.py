"""Tables that a kernel refers to by symbol: `__constant__` arrays, as clang writes them."""

from pathlib import Path

import numpy as np
import pytest

from expctl.gfx11.launch import interpret
from expctl.gfx11.text.errors import Unsupported
from expctl.inspection.device_compiler import Options, assembly_with_lines

SOURCE = """
#include <hip/hip_runtime.h>
__constant__ float weights[5] = {0.5f, -1.0f, 2.0f, 0.0f, 1e-3f};
__constant__ short steps[3] = {-2, 300, 7};
__constant__ char word[8] = "a\\"b";
__constant__ long long big[2] = {-5, 1LL << 40};
__global__ void look(const int *at, float *out, long long *sum) {
  int i = at[threadIdx.x];
  out[threadIdx.x] = weights[i % 5];
  sum[threadIdx.x] = steps[i % 3] + word[i % 8] + big[i % 2];
}
"""


def assembly(folder: Path) -> str:
    pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")
    source = folder / "look.hip"
    source.write_text(SOURCE)
    return assembly_with_lines(source, Options(arch="gfx1151"))[1]


def test_every_kind_of_table_is_read(tmp_path: Path) -> None:
    at = np.arange(32, dtype=np.int32)
    arguments = {"at": at, "out": np.zeros(32, np.float32), "sum": np.zeros(32, np.int64)}
    text = assembly(tmp_path)
    found = interpret(text, "_Z4lookPKiPfPx", (1, 1, 1), (32, 1, 1), arguments, order_seed=0)
    assert found.faults == ()
    weights = np.array([0.5, -1.0, 2.0, 0.0, 1e-3], dtype=np.float32)
    word = np.frombuffer(b'a"b'.ljust(8, b"\0"), dtype=np.int8)
    wanted = np.array([-2, 300, 7])[at % 3] + word[at % 8] + np.array([-5, 1 << 40])[at % 2]
    assert found.outputs["out"].tolist() == weights[at % 5].tolist()
    assert found.outputs["sum"].tolist() == wanted.tolist()


def test_reading_beyond_a_table_names_it(tmp_path: Path) -> None:
    at = np.full(32, 5, dtype=np.int32)
    text = assembly(tmp_path).replace("weights,", "weights_,", 1)
    arguments = {"at": at, "out": np.zeros(32, np.float32), "sum": np.zeros(32, np.int64)}
    shorter = text.replace("\t.long\t0x3a83126f", "\t; gone", 1)  # the last weight
    arguments["at"] = np.full(32, 4, dtype=np.int32)
    found = interpret(shorter, "_Z4lookPKiPfPx", (1, 1, 1), (32, 1, 1), arguments, order_seed=0)
    assert any(fault.kind == "out of bounds" and "weights" in fault.what for fault in found.faults), found.faults


def test_a_table_that_is_not_there_is_refused(tmp_path: Path) -> None:
    text = assembly(tmp_path).replace("\nweights:", "\nothers:", 1)
    arguments = {"at": np.zeros(32, np.int32), "out": np.zeros(32, np.float32), "sum": np.zeros(32, np.int64)}
    with pytest.raises(Unsupported, match="symbol"):
        interpret(text, "_Z4lookPKiPfPx", (1, 1, 1), (32, 1, 1), arguments, order_seed=0)


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_a_table_of_equal_bytes_and_a_place_within_a_table(tmp_path: Path, level: str) -> None:
    """clang writes the first as `.zero 8,7`, and the address of the second, at -O0, as a symbol and a distance."""
    source = tmp_path / "same.hip"
    source.write_text("""
#include <hip/hip_runtime.h>
__constant__ unsigned char same[8] = {7, 7, 7, 7, 7, 7, 7, 7};
__constant__ int some[4] = {1, 20, 300, 4000};
__global__ void look(const int *at, int *out) { out[threadIdx.x] = same[at[threadIdx.x] % 8] + some[2]; }
""")
    pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")
    text = assembly_with_lines(source, Options(arch="gfx1151", level=level))[1]
    arguments = {"at": np.arange(32, dtype=np.int32), "out": np.zeros(32, np.int32)}
    assert ".zero\t8,7" in text
    assert ("some@rel32@lo+12" in text) or level == "-O2"
    found = interpret(text, "_Z4lookPKiPi", (1, 1, 1), (32, 1, 1), arguments, order_seed=0)
    assert (found.faults, found.outputs["out"].tolist()) == ((), [307] * 32)
