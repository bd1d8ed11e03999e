"""Versions of the sources are compiled and read, as far as their compiler can write what is asked for."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from expctl.adapters.git.reader import GitReader, locate
from expctl.adapters.rules.compiled_versions import CompiledVersions, _at_once
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

    def availability(self, build: Build) -> Available:  # noqa: ARG002  the port's signature
        return Available(versions={"ptx": "1"})

    def commands(self, build: Build, *, out: Path, layout: int = 0, objects: Path | None = None) -> tuple[tuple[str, ...], ...]:  # noqa: ARG002
        return ()

    def preprocess(self, build: Build, *, out: Path) -> tuple[str, ...]:  # noqa: ARG002
        return ()

    def listing(self, build: Build, *, out: Path, view: View) -> tuple[str, ...]:
        copies = "import shutil, sys; shutil.copy(*sys.argv[1:])"
        return ("{python}", "-c", copies, build.source, str(out)) if view in (View.MEANING, View.SOURCE) else ()

    def describe(self, artifact: Path) -> tuple[str, tuple[Fact, ...]]:  # noqa: ARG002
        return "", ()


def versions(root: Path) -> tuple[CompiledVersions, str, Mapping[str, bytes]]:
    """A repository with PTX as its source; what compiles it, its commit, and patches that change a factor."""
    file = root / "repository" / SOURCE
    file.parent.mkdir(parents=True)
    file.write_text(PTX)
    git = ("git", "-c", "user.name=A", "-c", "user.email=a@b.c")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "kernel")):
        subprocess.run([*git, *words], cwd=root / "repository", check=True)
    patches = {}
    for name, factor in FACTORS.items():
        file.write_text(PTX.replace("%r1, 3;", f"%r1, {factor};").replace("add", "sub"))
        patches[name] = subprocess.run([*git, "diff"], cwd=root / "repository", check=True, capture_output=True).stdout
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
    made = CompiledVersions(reader, {Toolchain.NVCC: PtxRecipe()}, state=root / "state", mark="test", protocol=protocol)
    return made, str(reader.place.head), patches


def test_nothing_is_made_of_what_the_compiler_cannot_write(tmp_path: Path) -> None:
    made, commit, patches = versions(tmp_path)
    meaning, *others = made.compiled(
        [Wanted(Version(commit, patches["near"]), "sm_90", view) for view in View if view != "source"]
    )
    assert meaning is not None
    assert list(meaning.functions) == ["f"]
    assert others == [None] * 4


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
    program, *words = _at_once(("{python}", "-m", "ziglang", "cc", "-E"))
    assert (Path(program).name, words) == ("zig", ["cc", "-E"])
    assert _at_once(("{python}", "-P", "-m", "x")) == ("{python}", "-P", "-m", "x")
