"""Versions of the sources are compiled and read, as far as their compiler can write what is asked for."""

import lzma
import platform
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

import expctl
from expctl.adapters.git.reader import GitReader, locate
from expctl.adapters.rules import compiled_file
from expctl.adapters.rules.commands import anywhere, at_once
from expctl.adapters.rules.compiled_versions import CompiledVersions
from expctl.domain.experiment.record import Fact
from expctl.domain.protocol.model import Build, Protocol, Target, Toolchain
from expctl.domain.protocol.tune import Tune
from expctl.domain.rules.meaning import Version, View, Wanted
from expctl.domain.run.step_result import Available
from expctl.flow.rules.resemblance import Pair, resemblance
from expctl.ports.measuring import Recipe
from tests.fakes.stage import BENCHMARK, STEP

SOURCE = "src/kernel.ptx"
BODY = "add.s32 \t%r1, %r2, %r3;\nmul.lo.s32 \t%r4, %r1, 3;\nst.global.u32 \t[%rd1], %r4;\nret;\n"
PTX = f"//\n.version 9.0\n.target sm_90a\n.visible .entry f(\n)\n{{\n{BODY}}}\n"
FACTORS = {"rejected": "5", "near": "7"}


class PtxRecipe:
    """A compiler that writes PTX and no machine code: its source is PTX already."""

    def __init__(self, version: str = "1") -> None:
        self._version = version

    def availability(self, build: Build) -> Available:  # noqa: ARG002  the port's signature
        return Available(versions={"ptx": self._version})

    def commands(self, build: Build, *, out: Path, layout: int = 0, objects: Path | None = None) -> tuple[tuple[str, ...], ...]:  # noqa: ARG002
        return ()

    def preprocess(self, build: Build, *, out: Path) -> tuple[str, ...]:  # noqa: ARG002
        return ()

    def listing(self, build: Build, *, out: Path, view: View) -> tuple[str, ...]:
        copies = "import shutil, sys; shutil.copy(*sys.argv[1:])"
        return ("{python}", "-c", copies, build.source, str(out)) if view in (View.MEANING, View.SOURCE) else ()

    def describe(self, artifact: Path) -> tuple[str, tuple[Fact, ...]]:  # noqa: ARG002
        return "", ()


GIT = ("git", "-c", "user.name=A", "-c", "user.email=a@b.c")


def versions(root: Path) -> tuple[CompiledVersions, str, Mapping[str, bytes]]:
    """A repository with PTX as its source; what compiles it, its commit, and patches that change a factor."""
    file = root / "repository" / SOURCE
    file.parent.mkdir(parents=True)
    file.write_text(PTX)
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "kernel")):
        subprocess.run([*GIT, *words], cwd=root / "repository", check=True)
    patches = {}
    for name, factor in FACTORS.items():
        file.write_text(PTX.replace("%r1, 3;", f"%r1, {factor};").replace("add", "sub"))
        patches[name] = subprocess.run([*GIT, "diff"], cwd=root / "repository", check=True, capture_output=True).stdout
    file.write_text(PTX)
    made = compilers(root, "state")
    return made, str(made._git.place.head), patches


def compilers(root: Path, state: str, *, version: str = "1", brings: bool = True) -> CompiledVersions:
    """What compiles the repository's versions with a compiler of this version, and keeps answers in the folder `state`."""
    build = Build(toolchain=Toolchain.NVCC, arch="sm_90a", source=SOURCE)
    protocol = Protocol(
        version=1,
        name="ptx",
        scope=("src",),
        harness=("bench",),
        decides=("sm_90",),
        targets={"sm_90": Target(build=build, test=STEP, benchmark=BENCHMARK, profile=STEP)},
    )
    reader = GitReader(locate(root / "repository"))
    recipes = {Toolchain.NVCC: PtxRecipe(version)}
    return CompiledVersions(reader, recipes, state=root / state, mark="test", protocol=protocol, brings=brings)


def bring(root: Path, file: bytes) -> None:
    """Commit a file with what was compiled."""
    path = root / "repository" / compiled_file.FILE
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(file)
    for words in (("add", "-A"), ("commit", "-q", "-m", "what is brought")):
        subprocess.run([*GIT, *words], cwd=root / "repository", check=True)


def brought(root: Path) -> tuple[Wanted, Mapping[str, str]]:
    """Commit a file that says of a version that its function has the hash "brought"; return the version, and its real hash."""
    made, commit, patches = versions(root)
    wanted = Wanted(Version(commit, patches["near"]), "sm_90")
    (real,) = made.compiled([wanted])
    assert real is not None
    held = compiled_file.unpacked(made.packed([wanted]))
    said = {name: msgspec.json.encode(replace(real, functions={"f": "brought"})) for name in held.compiled}
    bring(root, compiled_file.packed(held.sources, said, {name: text.encode() for name, text in held.functions.items()}))
    return wanted, real.functions


@pytest.mark.parametrize("said", [{"brings": True}, {"brings": False}, {"version": "2"}], ids=str)
def test_what_the_commit_brings_is_not_compiled_again(tmp_path: Path, said: dict[str, Any]) -> None:
    wanted, real = brought(tmp_path)
    (made,) = compilers(tmp_path, "elsewhere", **said).compiled([wanted])
    assert made is not None
    assert made.functions == ({"f": "brought"} if said == {"brings": True} else real)


@pytest.mark.parametrize("file", [b"", b"no archive", lzma.compress(b"[]"), lzma.compress(b"{}")[:-9]], ids=str)
def test_a_damaged_file_is_as_none(tmp_path: Path, file: bytes) -> None:
    wanted, real = brought(tmp_path)
    bring(tmp_path, file)
    (made,) = compilers(tmp_path, "elsewhere").compiled([wanted])
    assert made is not None
    assert made.functions == real


def test_the_same_file_is_written_wherever_it_is_made(tmp_path: Path) -> None:
    made, commit, patches = versions(tmp_path)
    wanted = [Wanted(Version(commit, patches[name]), "sm_90") for name in FACTORS]
    assert made.packed(wanted) == compilers(tmp_path, "elsewhere").packed(wanted[::-1])
    assert anywhere([f"-I{Path(expctl.__file__).parent}/x", "-c"]) == ("-I{expctl}/x", "-c")


def test_what_is_native_depends_on_the_processor() -> None:
    plain, *processor = anywhere(["-march=native"])
    assert plain == "-march=native"
    assert processor[0] == platform.machine()
    assert len(processor) > 1
    assert anywhere(["-march=x86_64_v4"]) == ("-march=x86_64_v4",)


def test_nothing_is_made_of_what_the_compiler_cannot_write(tmp_path: Path) -> None:
    made, commit, patches = versions(tmp_path)
    meaning, *others = made.compiled(
        [Wanted(Version(commit, patches["near"]), "sm_90", view) for view in View if view != "source"]
    )
    assert meaning is not None
    assert list(meaning.functions) == ["f"]
    assert others == [None] * 5


def test_changes_are_near_where_machine_code_cannot_be_compared(tmp_path: Path) -> None:
    made, commit, patches = versions(tmp_path)
    rejected, near = (Pair(before=Version(commit), after=Version(commit, patches[name])) for name in FACTORS)
    assert resemblance(made, rejected, rejected, ["sm_90"]).level is not None
    found = resemblance(made, rejected, near, ["sm_90"])
    assert (found.level, found.percent) == (None, 60)


def test_whether_a_version_is_here_takes_no_compiler(tmp_path: Path) -> None:
    made, commit, patches = versions(tmp_path)
    unfit = f"--- a/{SOURCE}\n+++ b/{SOURCE}\n@@ -1 +1 @@\n-no such line\n+one\n".encode()
    asked = [(Version(commit, text), "sm_90") for text in (b"", *patches.values(), unfit)]
    assert made.here([*asked, (Version("0" * 40), "sm_90")]) == (True, True, True, False, False)
    assert not (tmp_path / "state" / "sources").exists()


def test_one_config_tells_that_a_patch_reaches_a_target(tmp_path: Path) -> None:
    made, commit, patches = versions(tmp_path)
    target = made.protocol.targets["sm_90"]
    tuned = replace(target, tune=Tune(tables="t", configs=("1", "2"), shapes=("1x1x1",), define="CONFIG"))
    made.protocol = replace(made.protocol, targets={"sm_90": tuned})
    both = Version(commit), Version(commit, patches["near"])
    assert made.differ(*both, "sm_90")
    made.compiled([Wanted(each, "sm_90", alone=True) for each in both])
    assert len([*(tmp_path / "state" / "sources").iterdir()]) == 2, "of each version the first config alone"
    assert not made.differ(Version(commit), Version(commit, b""), "sm_90")


def test_of_two_patches_beside_each_other_each_is_for_the_commit(tmp_path: Path) -> None:
    made, commit, patches = versions(tmp_path)
    diff = "--- a/{0}\n+++ b/{0}\n@@ -6,3 +6,3 @@\n add.s32 \t%r1, %r2, %r3;\n-{1}\n+{2}\n st.global.u32 \t[%rd1], %r4;\n"
    factor, name = (diff.format(SOURCE, "mul.lo.s32 \t%r4, %r1, 3;", f"mul.lo.s32 \t%r4, %r1, {by};").encode() for by in (5, 7))
    first = f"--- a/{SOURCE}\n+++ b/{SOURCE}\n@@ -6 +6 @@\n-add.s32 \t%r1, %r2, %r3;\n+sub.s32 \t%r1, %r2, %r3;\n".encode()
    both, together, twice, other = made.compiled(
        [
            Wanted(each, "sm_90")
            for each in (
                Version(commit, first, factor),  # whose context the first one changes
                Version(commit, patches["rejected"]),
                Version(commit, factor, factor),
                Version(commit, factor, name),
            )
        ]
    )
    assert both == together is not None
    assert twice == made.compiled([Wanted(Version(commit, factor), "sm_90")])[0] is not None
    assert other is None


class StrictRecipe(PtxRecipe):
    """Asks first another compiler, which knows no `sub` and calls its function `g`."""

    def listing(self, build: Build, *, out: Path, view: View) -> tuple[str, ...]:
        if view is not View.MEANING:
            return super().listing(build, out=out, view=View.MEANING)
        knows = "import sys; t = open(sys.argv[1]).read(); 'sub' in t and sys.exit('no sub'); "
        return ("{python}", "-c", knows + "open(sys.argv[2], 'w').write(t.replace('f(', 'g('))", build.source, str(out))


def test_what_another_compiler_cannot_compile_is_read_as_the_targets_own_compiler_writes_it(tmp_path: Path) -> None:
    plain, commit, patches = versions(tmp_path)
    git = GitReader(locate(tmp_path / "repository"))
    recipes: Mapping[Toolchain, Recipe] = {Toolchain.NVCC: StrictRecipe()}
    made = CompiledVersions(git, recipes, state=tmp_path / "strict", mark="test", protocol=plain.protocol)
    before, after = made.compiled([Wanted(Version(commit), "sm_90"), Wanted(Version(commit, patches["near"]), "sm_90")])
    assert before is not None
    assert after is not None
    assert (list(before.functions), list(after.functions)) == (["g"], ["f"])
    rejected, near = (Pair(before=Version(commit), after=Version(commit, patches[name])) for name in FACTORS)
    assert resemblance(made, rejected, rejected, ["sm_90"]).level is not None
    assert resemblance(made, rejected, near, ["sm_90"]).level is None


def test_zig_is_started_without_python() -> None:
    program, *words = at_once(("{python}", "-m", "ziglang", "cc", "-E"))
    assert (Path(program).name, words) == ("zig", ["cc", "-E"])
    assert at_once(("{python}", "-P", "-m", "x")) == ("{python}", "-P", "-m", "x")


class KilledRecipe(PtxRecipe):
    """A compiler that is killed when it is first asked for each kind of text, as where memory is short."""

    def listing(self, build: Build, *, out: Path, view: View) -> tuple[str, ...]:
        copies = (
            "import os, shutil, sys; m = sys.argv.pop(); os.path.exists(m) or open(m, 'w').close() or os.kill(os.getpid(), 9); "
        )
        words = (
            "{python}",
            "-c",
            copies + "shutil.copy(*sys.argv[1:])",
            build.source,
            str(out),
            str(out.parent / f"was.{view}"),
        )
        return words if view in (View.MEANING, View.SOURCE) else ()


def test_a_compiler_that_is_killed_is_asked_again(tmp_path: Path) -> None:
    plain, commit, patches = versions(tmp_path)
    git = GitReader(locate(tmp_path / "repository"))
    recipes: Mapping[Toolchain, Recipe] = {Toolchain.NVCC: KilledRecipe()}
    made = CompiledVersions(git, recipes, state=tmp_path / "killed", mark="test", protocol=plain.protocol)
    wanted = [Wanted(Version(commit, patches["near"]), "sm_90")]
    (real,), (found,) = plain.compiled(wanted), made.compiled(wanted)
    assert real is not None
    assert found == real
    assert found.functions
