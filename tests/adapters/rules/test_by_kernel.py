"""Kernels of a module are optimised and read one by one, each once, and a part of them where that is asked for."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

from expctl.adapters.git.reader import GitReader, locate
from expctl.adapters.rules import compiled_file
from expctl.adapters.rules.compiled_versions import CompiledVersions
from expctl.domain.protocol.model import Build, Protocol, Target, Toolchain
from expctl.domain.rules.meaning import Version, View, Wanted
from expctl.ports.measuring import Recipe
from tests.adapters.rules.test_compiled_versions import GIT, PtxRecipe
from tests.fakes.stage import BENCHMARK, STEP

SOURCE = "src/kernel.cu"
KERNEL = (
    "define ptx_kernel void @{0}(ptr %0) {{\n  %2 = call i32 @{1}(i32 {2})\n  store i32 %2, ptr %0, align 4\n  ret void\n}}\n"
)
HELPER = "define linkonce_odr i32 @{0}(i32 %0) {{\n  %2 = add i32 %0, {1}\n  ret i32 %2\n}}\n"
MODULE = "\n".join(
    (
        'target datalayout = "e-p6:32:32-i64:64"\ntarget triple = "nvptx64-nvidia-cuda"\n',
        KERNEL.format("first", "_Z3oneILi1EEii", 5),
        KERNEL.format("again", "_Z3oneILi2EEii", 5000),
        KERNEL.format("second", "_Z3twoi", 7),
        HELPER.format("_Z3oneILi1EEii", 1),
        HELPER.format("_Z3oneILi2EEii", 2),
        HELPER.format("_Z3twoi", 3),
    )
)


class KernelRecipe(PtxRecipe):
    """Its source is LLVM IR already; it optimises no module with a `sub`."""

    def listing(self, build: Build, *, out: Path, view: View) -> tuple[str, ...]:
        copies = "import shutil, sys; 'll' in sys.argv[1] and ' sub ' in open(sys.argv[1]).read() and sys.exit('no');"
        words = ("{python}", "-c", f"{copies} shutil.copy(*sys.argv[1:])", build.source, str(out))
        return words if view in (View.MEANING, View.SOURCE, View.UNOPTIMISED) else ()


def compilers(root: Path, state: str) -> CompiledVersions:
    build = Build(toolchain=Toolchain.NVCC, arch="sm_90a", source=SOURCE)
    protocol = Protocol(
        version=1,
        name="kernels",
        scope=("src",),
        harness=("bench",),
        decides=("sm_90",),
        targets={"sm_90": Target(build=build, test=STEP, benchmark=BENCHMARK, profile=STEP)},
    )
    recipes: Mapping[Toolchain, Recipe] = {Toolchain.NVCC: KernelRecipe()}
    return CompiledVersions(GitReader(locate(root)), recipes, state=root.parent / state, mark="test", protocol=protocol)


def changed(root: Path, old: str, new: str) -> bytes:
    assert MODULE.count(old) == 1
    (root / SOURCE).write_text(MODULE.replace(old, new))
    patch = subprocess.run([*GIT, "diff"], cwd=root, check=True, capture_output=True).stdout
    (root / SOURCE).write_text(MODULE)
    return patch


def repository(root: Path) -> Path:
    (root / "src").mkdir(parents=True)
    (root / SOURCE).write_text(MODULE)
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "kernels")):
        subprocess.run([*GIT, *words], cwd=root, check=True)
    return root


def test_a_kernel_is_optimised_once(tmp_path: Path) -> None:
    root = repository(tmp_path / "repository")
    made, kernels = compilers(root, "state"), tmp_path / "state" / "kernels"
    head = str(made._git.place.head)
    other = Version(head, changed(root, "add i32 %0, 3", "add i32 %0, 4"))
    before, after = made.compiled([Wanted(each, "sm_90") for each in (Version(head), other)])
    assert before is not None
    assert after is not None
    assert sorted(before.functions) == sorted(before.parts) == ["again", "first", "second"]
    assert [name for name in before.functions if before.functions[name] != after.functions[name]] == ["second"]
    assert len([*kernels.iterdir()]) == 4


def test_a_kernel_of_each_kind(tmp_path: Path) -> None:
    root = repository(tmp_path / "repository")
    made, kernels = compilers(root, "state"), tmp_path / "state" / "kernels"
    head = Version(str(made._git.place.head))
    (part,) = made.compiled([Wanted(head, "sm_90", alone=True)])
    assert part is not None
    assert (sorted(part.functions), part.left_out) == (["first", "second"], ("again",))
    assert len([*kernels.iterdir()]) == 2
    (whole,) = made.compiled([Wanted(head, "sm_90")])
    assert whole is not None
    assert whole.without(["again"]) == part
    assert len([*kernels.iterdir()]) == 3


def test_what_can_not_be_optimised_alone_is_compiled_as_a_whole(tmp_path: Path) -> None:
    root = repository(tmp_path / "repository")
    made = compilers(root, "state")
    other = Version(str(made._git.place.head), changed(root, "add i32 %0, 3", "sub i32 %0, 3"))
    for alone in (False, True):
        (found,) = made.compiled([Wanted(other, "sm_90", alone=alone)])
        assert found is not None
        assert sorted(found.functions) == ["again", "first", "second"]
        assert not found.left_out


def test_a_commit_brings_kernels(tmp_path: Path) -> None:
    root = repository(tmp_path / "repository")
    made = compilers(root, "state")
    wanted = Wanted(Version(str(made._git.place.head)), "sm_90")
    (whole,) = made.compiled([wanted])
    assert whole is not None
    held = compiled_file.unpacked(made.packed([wanted]))
    assert [json.loads(bytes(each))["functions"] for each in held.compiled.values()].count(dict(whole.functions)) == 1
    assert len(held.compiled) == 4
