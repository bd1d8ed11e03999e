"""Builds of the protocol's own command: where they may write, what they share, and what is said when they fail."""

import hashlib
import shutil
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from expctl.adapters.steps.builder import Builder
from expctl.domain.experiment.record import Artifact
from expctl.domain.protocol.model import Benchmark, Build, Environment, Target, Toolchain
from expctl.domain.run.step_result import Failed
from expctl.files.disk_space import SPACE_LEAST_BYTES
from expctl.launcher.capabilities import detect_capabilities
from expctl.targets.command import CommandRecipe

Run = Callable[..., Artifact | Failed]
confined = pytest.mark.skipif(
    not detect_capabilities().confines_writes, reason="UNCONFINED: nothing here keeps a build in its folders"
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "tree").mkdir()
    return tmp_path / "tree"


@pytest.fixture
def build(tmp_path: Path, tree: Path) -> Run:
    def build(
        program: str,
        *,
        name: str = "cpu",
        sources: str = "1",
        writable: tuple[str, ...] = (),
        space_least_bytes: int = SPACE_LEAST_BYTES,
        layouts: int = 1,
    ) -> Artifact | Failed:
        argv = ("{python}", "-c", f"import os, sys; {program}", "{artifact}", "{layout}")
        spec = Build(toolchain=Toolchain.COMMAND, argv=argv, artifact="a", timeout_s=20)
        state = tmp_path / "state"
        environment = Environment(writable=writable)
        builder = Builder(
            {Toolchain.COMMAND: CommandRecipe()},
            state=state,
            environment=environment,
            mark="m",
            machine="m",
            image_of=lambda artifact: f"image of {artifact.name}",
            space_least_bytes=space_least_bytes,
        )
        benchmark = Benchmark(argv=("-",), timeout_s=1, sizes=(), layouts=layouts)
        return builder.build(name, Target(build=spec, benchmark=benchmark), tree=tree, sources=sources)

    return build


ARTIFACT = "open(sys.argv[1], 'w').write('code')"


def test_an_artifact_knows_its_image_and_the_cache_too(build: Run) -> None:
    made = [build(ARTIFACT) for _ in range(2)]
    assert [each.image for each in made if isinstance(each, Artifact)] == ["image of a"] * 2


def test_targets_of_one_build_entry_share_its_build(build: Run) -> None:
    anew = "open(sys.argv[1], 'wb').write(os.urandom(8))"
    first, again = build(anew, name="sm_90"), build(anew, name="sm_90-rows")
    assert isinstance(first, Artifact)
    assert first == again
    assert first != build(anew, name="sm_90", sources="2")


def test_a_build_writes_its_artifact_and_in_its_own_tree(build: Run, tree: Path) -> None:
    made = build(f"open('object.o', 'w'); open(os.environ['HOME'] + '/x', 'w'); {ARTIFACT}")
    assert isinstance(made, Artifact), made
    assert (tree / "object.o").exists()


def test_nobody_else_reaches_a_program_that_runs_as_the_user(build: Run, tmp_path: Path) -> None:
    left = "open(os.environ['HOME'] + '/x', 'w'); [os.chmod(path, 0o6755) for path in (os.environ['HOME'] + '/x', sys.argv[1])]"
    for folder in ("scratch", "artifacts"):
        (tmp_path / "state" / folder).mkdir(parents=True)
    assert isinstance(build(f"{ARTIFACT}; {left}"), Artifact)
    programs = [path for path in (tmp_path / "state").rglob("*") if path.is_file() and path.stat().st_mode & stat.S_ISUID]
    assert len(programs) == 2
    for program in programs:
        above = [path for path in program.parents if path.is_relative_to(tmp_path / "state")]
        assert any(not path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO) for path in above), program


@confined
@pytest.mark.parametrize("where", ["../elsewhere", "../state/artifacts/x", "../state/cache/x", "../state/journal"])
def test_a_build_writes_nowhere_else(build: Run, tree: Path, where: str) -> None:
    (tree / where).parent.mkdir(parents=True, exist_ok=True)
    made = build(f"open({where!r}, 'w'); {ARTIFACT}")
    assert isinstance(made, Failed)
    assert not (tree / where).exists()


def test_folders_that_were_removed_and_made_again_can_be_written(build: Run, tmp_path: Path) -> None:
    """A file system gives a new folder the inode of the one that was removed."""
    for _ in range(8):
        made = build(ARTIFACT)
        assert isinstance(made, Artifact), made
        shutil.rmtree(tmp_path / "state/artifacts")


def test_the_protocol_can_let_it(build: Run, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    assert isinstance(build(f"open('../cache/x', 'w'); {ARTIFACT}", writable=(str(tmp_path / "cache"), "/not/there")), Artifact)


def test_what_one_build_leaves_in_its_home_the_next_does_not_see(build: Run) -> None:
    leave = "[open(os.path.join(os.environ[name], 'left'), 'w') for name in ('HOME', 'TMPDIR', 'ZIG_GLOBAL_CACHE_DIR')]"
    look = "assert not [name for name in ('HOME', 'TMPDIR', 'ZIG_GLOBAL_CACHE_DIR') if 'left' in os.listdir(os.environ[name])]"
    assert isinstance(build(f"{leave}; {ARTIFACT}"), Artifact)
    assert isinstance(build(f"{look}; {ARTIFACT}", sources="2"), Artifact)


@pytest.mark.parametrize(
    ("argv", "shares"),
    [
        (("{python}", "-m", "ziglang", "cc", "x.c"), True),
        (("zig", "c++", "x.cpp"), True),
        (("zig", "build"), False),
        (("{python}", "-m", "ziglang", "build"), False),
        (("make",), False),
        (("{python}", "build.py"), False),
    ],
)
def test_only_a_compiler_shares_its_cache(argv: tuple[str, ...], shares: bool) -> None:
    from expctl.adapters.steps.builder import _only_compiles

    assert _only_compiles(Build(toolchain=Toolchain.COMMAND, argv=argv)) is shares


def test_a_full_disk_is_not_the_fault_of_the_build(build: Run) -> None:
    with pytest.raises(OSError, match="No space left"):
        build("sys.exit(1)", space_least_bytes=1 << 60)
    assert isinstance(build(ARTIFACT, space_least_bytes=1 << 60), Artifact)


def test_a_secret_in_what_a_compiler_says_is_masked(build: Run) -> None:
    made = build("sys.exit('error: cannot fetch https://user:hunter2hunter2@example.org')")
    assert made == Failed(reason="error: cannot fetch https://user:**************@example.org")


def test_the_python_that_builds_is_the_one_that_runs(build: Run) -> None:
    assert isinstance(build(f"assert sys.executable == {sys.executable!r}; {ARTIFACT}"), Artifact)


LAYOUT = "open(sys.argv[1], 'w').write('code at ' + sys.argv[2]); open('built', 'a').write(sys.argv[2])"


def test_a_command_builds_every_layout_once(build: Run, tree: Path) -> None:
    made = build(LAYOUT, layouts=4)
    assert isinstance(made, Artifact), made
    assert [made.sha256, *made.layouts] == [hashlib.sha256(f"code at {i}".encode()).hexdigest() for i in range(4)]
    assert build(LAYOUT, layouts=4) == made
    assert (tree / "built").read_text() == "0123"


def test_without_layouts_there_is_one_build_of_the_same_bytes(build: Run, tree: Path) -> None:
    made, several = build(LAYOUT), build(LAYOUT, layouts=2)
    assert isinstance(made, Artifact)
    assert isinstance(several, Artifact)
    assert (made.sha256, made.code, made.layouts) == (several.sha256, several.code, ())
    assert (tree / "built").read_text() == "001"


def test_layouts_that_turn_out_alike_are_kept_once(build: Run, tmp_path: Path) -> None:
    made = build(ARTIFACT, layouts=3)
    assert isinstance(made, Artifact), made
    assert set(made.layouts) == {made.sha256}
    assert [path.name for path in (tmp_path / "state/artifacts").iterdir()] == [made.sha256]
    assert [path.name for path in (tmp_path / "state/artifacts" / made.sha256).iterdir()] == ["a"]


def test_a_layout_that_fails_is_named(build: Run) -> None:
    failed = build(f"sys.exit('error: no room') if sys.argv[2] == '2' else {ARTIFACT}", layouts=3)
    assert failed == Failed(reason="layout 2: error: no room")
    failed = build(f"0 if sys.argv[2] == '1' else {ARTIFACT}", layouts=3)
    assert failed == Failed(reason="layout 1: the build ended without writing a")
