"""Buffer accesses of compiled code, and what their descriptors must not be."""

from pathlib import Path

import numpy as np
import pytest

from expctl.gfx11.arguments import Unwritten
from expctl.gfx11.launch import launch, load
from expctl.gfx11.machine.wave import Wave
from expctl.gfx11.single_instruction import execute
from expctl.gfx11.text.errors import Unsupported
from expctl.inspection.device_compiler import Options, assembly_with_lines
from tests.gfx11.cases.procedure import kinds
from tests.gfx11.test_memory_access import with_buffer

SOURCE = """
#include <hip/hip_runtime.h>
__global__ void k(float *x, float *y, int n) {
    auto from = __builtin_amdgcn_make_buffer_rsrc(x, 0, 4 * n, 0x31027000);
    auto to = __builtin_amdgcn_make_buffer_rsrc(y, 0, 4 * n, 0x31027000);
    int i = blockIdx.x * 64 + threadIdx.x;
    unsigned v = __builtin_amdgcn_raw_buffer_load_b32(from, 4 * i, 0, 0);
    __builtin_amdgcn_raw_buffer_store_b32(v + 1, to, 4 * i, 0, 0);
}
"""


def descriptor(address: int, *, size: int = 64, stride: int = 0, last: int = 0x31027000) -> dict[int, int]:
    return {4: address & 0xFFFFFFFF, 5: address >> 32 | stride << 16, 6: size, 7: last}


def test_compiled_code_leaves_out_what_is_beyond(tmp_path: Path) -> None:
    source = tmp_path / "k.hip"
    source.write_text(SOURCE)
    assembly = assembly_with_lines(source, Options(arch="gfx1151"))[1]
    assert "buffer_load_b32" in assembly
    x, y = np.arange(100, dtype=np.uint32), Unwritten(shape=(100,), dtype="u4")
    ran = launch(load(assembly, "_Z1kPfS_i"), (2, 1, 1), (64, 1, 1), {"x": x, "y": y, "n": 100}, order_seed=0)
    assert ran.faults == ()
    assert (ran.outputs["y"] == x + 1).all()
    assert ran.counts.traffic


def loaded(wave: Wave, address: int, text: str = "buffer_load_b64 v[2:3], v0, s[4:7], 0 offen", **changed: int) -> list[str]:
    execute(wave, text, vectors={0: [60]}, scalars=descriptor(address, **changed))
    return kinds(wave)


def test_an_access_across_the_end_is_a_fault() -> None:
    wave, address = with_buffer()
    assert loaded(wave, address) == ["out of bounds"]
    assert loaded(*with_buffer(), size=68) == []


def test_a_descriptor_larger_than_its_memory_is_no_excuse() -> None:
    assert loaded(*with_buffer(size=64), size=100) == ["out of bounds"]


def test_an_undefined_descriptor() -> None:
    wave, _ = with_buffer()
    execute(wave, "buffer_load_b32 v2, v0, s[8:11], 0 offen", vectors={0: [0]})
    assert "uninitialised" in kinds(wave)


@pytest.mark.parametrize(("stride", "last"), [(16, 0x31027000), (1 << 15, 0x31027000), (0, 0x31027000 | 1 << 23)])
def test_other_descriptors_are_refused(stride: int, last: int) -> None:
    with pytest.raises(Unsupported, match="stride"):
        loaded(*with_buffer(), stride=stride, last=last)


@pytest.mark.parametrize(
    "text",
    [
        "buffer_load_b32 v2, v0, s[4:7], 0 idxen",
        "buffer_load_b32 v2, v0, s[4:5], 0 offen",
        "buffer_load_b32 v2, v0, s[4:7], 0",
        "buffer_load_b32 v2, off, s[4:7], 0 offen",
        "buffer_load_b32 v2, v0, s[4:7] offen",
    ],
)
def test_other_forms_are_refused(text: str) -> None:
    with pytest.raises(Unsupported):
        loaded(*with_buffer(), text)
