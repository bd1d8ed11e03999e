"""PTX, cubins and Triton's cache folders. The cubins were made of tile.ptx by ptxas 12.9; cuobjdump prints the same figures."""

import json
from pathlib import Path

import pytest

from expctl.domain.errors import Refused
from expctl.inspection.device_compiler import Options, compile_source
from expctl.inspection.model.report import FileReport, Form
from expctl.inspection.readers.metadata import arch_of_target
from expctl.inspection.readers.read_file import inspect
from expctl.inspection.views.terminal import report_lines
from tests.refusals import refuses

SPECIMENS = Path(__file__).parent / "specimens"
ANY = Options(arch="")


def seen(path: Path) -> FileReport:
    return inspect(path, ANY)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_a_cubin(arch: str) -> None:
    report = seen(SPECIMENS / f"tile_{arch}.cubin")
    (kernel,) = report.kernels
    assert (report.form, report.arch, kernel.name) == (Form.CUBIN, arch, "tile")
    assert (kernel.vgpr, kernel.scratch_bytes, kernel.workgroup, kernel.code_bytes) == (8, 0, 256, 384)
    assert kernel.lds_bytes == 2048  # the section of sm_90 has 1024 more, which the system takes
    assert kernel.occupancy == 16  # warps of a scheduler: 64 of a multiprocessor, which has four


def test_a_damaged_cubin_is_refused(tmp_path: Path) -> None:
    data = (SPECIMENS / "tile_sm_90.cubin").read_bytes()
    for size in range(24, len(data), 97):
        (tmp_path / "cut.cubin").write_bytes(data[:size])
        with refuses("not-a-cubin"):
            seen(tmp_path / "cut.cubin")


def test_ptx_has_no_registers_yet(tmp_path: Path) -> None:
    report = seen(SPECIMENS / "tile.ptx")
    (kernel,) = report.kernels
    assert (report.arch, kernel.vgpr, kernel.lds_bytes, kernel.workgroup) == ("sm_90", None, 2048, 256)
    assert kernel.instructions == {
        "global load narrow": 1, "global store narrow": 1, "shared load": 1, "shared store": 1, "branch": 1, "barrier": 1,
        "other": 3,
    }  # fmt: skip
    assert "  registers unknown until ptxas assigns them; local memory 0 B" in report_lines(report)
    with refuses("file-for-another-gpu"):
        inspect(SPECIMENS / "tile.ptx", Options(arch="sm_80"))
    (tmp_path / "none.ptx").write_text(".version 8.0\n")
    with refuses("not-ptx"):
        seen(tmp_path / "none.ptx")


def test_lines_of_the_source_are_not_in_the_hash_of_ptx(tmp_path: Path) -> None:
    text = (SPECIMENS / "tile.ptx").read_text()
    hashes = []
    for number, changed in enumerate(
        (text, text.replace("tile.py:4", "tile.py:9").replace("1 4 0", "1 9 0"), text.replace("bar", "//"))
    ):
        (tmp_path / f"{number}.ptx").write_text(changed)
        hashes.append(seen(tmp_path / f"{number}.ptx").kernels[0].code_hash)
    assert hashes[0] == hashes[1] != hashes[2]


def test_a_cache_folder_of_triton(tmp_path: Path) -> None:
    for name, number in (("ONE", 1), ("TWO", 2)):
        source = tmp_path / f"{name}.hip"
        source.write_text(
            f'#include <hip/hip_runtime.h>\nextern "C" __global__ void scale(float *x) {{ x[threadIdx.x] *= {number}.5f; }}\n'
        )
        made = compile_source(source, Options(arch="gfx1151"))
        folder = tmp_path / "cache" / name
        folder.mkdir(parents=True)
        (folder / "scale.hsaco").write_bytes(made.code_object)
        (folder / "scale.amdgcn").write_text(made.assembly)
        about = {"name": "scale", "num_warps": number, "warp_size": 32, "shared": 512 * number}
        (folder / "scale.json").write_text(json.dumps(about))
        (folder / "__grp__scale.json").write_text("{}")
    report = seen(tmp_path / "cache")
    assert (report.form, report.arch) == (Form.TRITON_CACHE, "gfx1151")
    assert [each.name for each in report.kernels] == ["scale #1", "scale #2"]
    assert sorted((each.lds_bytes, each.workgroup) for each in report.kernels) == [(512, 32), (1024, 64)]
    assert all(each.instructions for each in report.kernels)
    assert len(seen(tmp_path / "cache/ONE").kernels) == 1
    beside = seen(tmp_path / "cache/ONE/scale.amdgcn")
    assert beside.kernels[0].code_hash == seen(tmp_path / "cache/ONE").kernels[0].code_hash
    (tmp_path / "cache/ONE/scale.hsaco").unlink()
    assert seen(tmp_path / "cache/ONE/scale.amdgcn").kernels[0].code_hash is None


def test_a_folder_without_kernels_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused) as refusal:
        seen(tmp_path)
    assert refusal.value.code == "no-triton-cache"


def test_the_gpu_of_a_target_as_llvm_names_it_now_and_before() -> None:
    assert arch_of_target("amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-") == "gfx90a"
    assert arch_of_target("amdgpu11.51-amd-amdhsa-unknown-gfx1151") == "gfx1151"
