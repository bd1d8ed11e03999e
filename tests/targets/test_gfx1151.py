"""The static target, from HIP to facts, with the wheel's own clang."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from expctl.domain.protocol.model import Build, NumberKind, Toolchain
from expctl.targets.gfx1151 import ZigGfxRecipe, compiler_facts

pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")

KERNEL = """\
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
extern "C" __global__ void scale(float *out, const float *in, int n) {
    __shared__ float tile[256];
    int i = __builtin_amdgcn_workitem_id_x();
    tile[i] = in[i];
    __builtin_amdgcn_s_barrier();
    out[i] = tile[255 - i] * 2.0f + n;
}
"""
BUILD = Build(toolchain=Toolchain.ZIG_GFX, source="kernel.hip", flags=("-O3",), arch="gfx1151", artifact="kernel.hsaco")


def build(folder: Path, cache: Path, source: str) -> Path:
    """Run the recipe's commands as the builder does."""
    spec = importlib.util.find_spec("ziglang")
    assert spec is not None
    assert spec.origin is not None
    words = {"{python}": sys.executable, "{zig_include}": str(Path(spec.origin).parent / "lib/include")}
    folder.mkdir()
    (folder / "kernel.hip").write_text(source)
    environment = {**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(cache), "ZIG_LOCAL_CACHE_DIR": str(cache)}
    for command in ZigGfxRecipe().commands(BUILD, out=folder):
        argv = [words.get(word, word) for word in command]
        answer = subprocess.run(argv, cwd=folder, env=environment, capture_output=True)
        assert answer.returncode == 0, answer.stderr.decode()
    return folder / "kernel.hsaco"


def test_a_kernel_is_built_and_described(tmp_path: Path, zig_cache: Path) -> None:
    artifact = build(tmp_path / "one", zig_cache, KERNEL)
    code, facts = ZigGfxRecipe().describe(artifact)
    assert len(code) == 64
    found = {fact.name: fact for fact in facts}
    assert set(found) == {"vgpr", "sgpr", "lds", "scratch", "vgpr_spills", "sgpr_spills", "occupancy", "code"}
    assert {fact.kind for fact in facts} == {NumberKind.STATIC}
    assert (found["lds"].value, found["scratch"].value, found["vgpr_spills"].value) == (1024, 0, 0)
    assert 1 <= found["vgpr"].value <= 256
    assert 1 <= found["occupancy"].value <= 16
    assert 0 < found["code"].value < 4096


def test_a_comment_leaves_the_code_object_as_it_is_and_a_factor_does_not(tmp_path: Path, zig_cache: Path) -> None:
    recipe = ZigGfxRecipe()
    code, facts = recipe.describe(build(tmp_path / "one", zig_cache, KERNEL))
    assert recipe.describe(build(tmp_path / "two", zig_cache, f"// comment\n{KERNEL}")) == (code, facts)
    assert recipe.describe(build(tmp_path / "ten", zig_cache, KERNEL.replace("2.0f", "3.3f")))[0] != code


def test_a_raw_file_with_host_code_is_built(tmp_path: Path, zig_cache: Path) -> None:
    raw = Path(__file__).parents[1] / "inspection/specimens" / "gemm_half.hip"
    _, facts = ZigGfxRecipe().describe(build(tmp_path / "raw", zig_cache, raw.read_text()))
    assert {fact.name: fact.value for fact in facts}["lds"] > 0


def test_the_worst_kernel_of_a_build_is_reported() -> None:
    text = "; codeLenInByte = 100\n; Occupancy: 16\n.vgpr_count:     24\n"
    text += "; codeLenInByte = 900\n; Occupancy: 5\n.vgpr_count:     200\n; Occupancy: 10\n"
    assert {fact.name: fact.value for fact in compiler_facts(text)} == {"vgpr": 200, "occupancy": 5, "code": 900}


def test_a_text_without_kernels_has_no_facts() -> None:
    assert compiler_facts("\t.text\n") == ()


def test_the_order_of_the_kernels_is_not_code_and_an_instruction_is(tmp_path: Path, zig_cache: Path) -> None:
    head, body = KERNEL.split('extern "C"')
    first, second = f'extern "C"{body}', f'extern "C"{body}'.replace("scale(", "other(").replace("2.0f", "5.0f")
    recipe = ZigGfxRecipe()
    code, _ = recipe.describe(build(tmp_path / "one", zig_cache, head + first + second))
    assert recipe.describe(build(tmp_path / "two", zig_cache, head + second + first))[0] == code
    changed = second.replace("255 - i", "254 - i")
    assert recipe.describe(build(tmp_path / "six", zig_cache, head + first + changed))[0] != code
