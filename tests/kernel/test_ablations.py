"""Each ablation that comes with expctl fits the kernel as it is, compiles as the guards compile, and changes machine code."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from expctl.adapters.codec.strict_yaml import load
from expctl.adapters.playbooks.shelf import playbook, playbooks
from expctl.domain.protocol.model import Protocol
from expctl.targets.gfx1151 import ZigGfxRecipe

ROOT = Path(__file__).parents[2]
STATIC = load((ROOT / "protocol.yaml").read_bytes(), Protocol, where="protocol.yaml").targets["gfx1151-static"]
KERNEL = "scaled_mm_e5m2_1_8_2_2_8_2"
ABLATIONS = [name for name, each in playbooks().items() if each.patch]
# What the kernel's machine code has fewer of, and what it has as many of as before.
LESS = {
    "half-fragment-loads": ("ds_load_b128", ["v_wmma_f32_16x16x16_f16", "v_perm_b32", "ds_store_b128", "global_load_b128"]),
    "no-decode": ("v_perm_b32", ["v_wmma_f32_16x16x16_f16", "ds_load_b128", "ds_store_b128", "global_load_b128"]),
    "no-epilogue": ("global_load_u16", []),
    "reuse-lds": ("ds_store_b128", ["v_wmma_f32_16x16x16_f16", "v_perm_b32", "ds_load_b128", "s_barrier"]),
    "zero-inputs": ("", ["v_wmma_f32_16x16x16_f16", "v_perm_b32", "ds_load_b128", "ds_store_b128", "global_load_b128"]),
}


@dataclass(frozen=True, slots=True)
class Compiled:
    """Hash of the code, the compiler's figures, and how often the kernel has each instruction."""

    code: str
    facts: dict[str, float]
    count: Counter[str]


def compiled(tree: Path, out: Path, cache: Path, patch: bytes | None) -> Compiled:
    """Build a copy of HEAD's kernel with `patch` by the commands of the guard."""
    shutil.copytree(ROOT / "kernel/hip", tree / "kernel/hip")
    if patch is not None:
        done = subprocess.run(["git", "apply", "-"], input=patch, cwd=tree, capture_output=True)
        assert (done.returncode, done.stderr) == (0, b""), "the kernel has changed there: make the patch again"
    spec = importlib.util.find_spec("ziglang")
    assert spec is not None
    assert spec.origin is not None
    words = {"{python}": sys.executable, "{zig_include}": str(Path(spec.origin).parent / "lib/include")}
    environment = {**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(cache), "ZIG_LOCAL_CACHE_DIR": str(cache)}
    out.mkdir()
    for command in ZigGfxRecipe().commands(STATIC.build, out=out):
        done = subprocess.run([words.get(word, word) for word in command], cwd=tree, env=environment, capture_output=True)
        assert done.returncode == 0, done.stderr.decode()
    artifact = out / STATIC.build.artifact
    code, facts = ZigGfxRecipe().describe(artifact)
    text = artifact.read_text().partition(f"\n{KERNEL}:")[2].partition("s_endpgm")[0]
    return Compiled(code, {each.name: each.value for each in facts}, Counter(re.findall(r"^\s+([a-z]\w+)", text, re.MULTILINE)))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory, zig_cache: Path) -> Compiled:
    pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")
    folder = tmp_path_factory.mktemp("plain")
    return compiled(folder / "tree", folder / "out", zig_cache, None)


def test_all_are_looked_at() -> None:
    assert sorted(LESS) == sorted(ABLATIONS)


@pytest.mark.parametrize("name", ABLATIONS)
def test_it_changes_the_machine_code_where_it_says(name: str, plain: Compiled, tmp_path: Path, zig_cache: Path) -> None:
    _, patch = playbook(name)
    found = compiled(tmp_path / "tree", tmp_path / "out", zig_cache, patch)
    less, alike = LESS[name]
    assert found.code != plain.code
    assert not less or found.count[less] < plain.count[less]
    assert {each: found.count[each] for each in alike} == {each: plain.count[each] for each in alike}
    assert all(plain.count[each] > 0 for each in (less, *alike) if each)

    limits = STATIC.limits.most if STATIC.limits else {}
    assert limits  # what breaks one is rejected before it is timed
    assert {each: found.facts[each] for each, most in limits.items() if found.facts[each] > most} == {}
