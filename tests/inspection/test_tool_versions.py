"""Is a toolchain here? Answers carry a version, or a reason and what to install."""

from pathlib import Path

import pytest

from expctl.adapters.steps.builder import Builder
from expctl.domain.protocol.model import Build, Environment, Requires, Target, Toolchain
from expctl.domain.run.step_result import Available, Unavailable
from expctl.inspection import tool_versions
from expctl.ports.measuring import Recipe
from expctl.targets.command import CommandRecipe
from expctl.targets.rocm import HIPCC
from expctl.targets.sm_90 import NVCC

BUILD = Build(toolchain=Toolchain.COMMAND, argv=("cp", "src/a", "{artifact}"), source="k.hip", arch="gfx1151", flags=("-O3",))


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty PATH, and the folder on it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def program(folder: Path, name: str, script: str) -> None:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


def test_packages_that_are_here_come_with_their_versions() -> None:
    answer = tool_versions.packages("elftools", "hypothesis", extra="cpu")
    assert isinstance(answer, Available)
    assert set(answer.versions) == {"elftools", "hypothesis"}
    assert all(version[0].isdigit() for version in answer.versions.values())


def test_packages_that_are_missing_are_all_named_with_the_extra() -> None:
    assert tool_versions.packages("elftools", "no_such_a", "no_such_b", extra="cpu") == Unavailable(
        reason="no no_such_a and no no_such_b for this Python", hint="pip install 'expctl[cpu]'"
    )


def test_a_package_that_was_copied_without_its_metadata_is_unavailable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "copied_by_hand.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    assert tool_versions.packages("copied_by_hand", extra="cpu") == Unavailable(
        reason="copied_by_hand has no version for this Python", hint="pip install 'expctl[cpu]'"
    )


def test_a_program_that_is_missing_comes_with_the_hint(path: Path) -> None:
    assert tool_versions.program("hipcc", hint="install ROCm") == Unavailable(reason="no hipcc on PATH", hint="install ROCm")
    assert list(path.iterdir()) == []


VERSIONS = {
    "a line of copyright": (
        "echo 'cc (Debian 12.2.0-14) 12.2.0'; echo 'Copyright (C) 2022 Free Software Foundation'",
        "cc (Debian 12.2.0-14) 12.2.0",
    ),
    "one line": ("echo HIP version: 7.0.1", "HIP version: 7.0.1"),
    "several lines": ("echo nvcc: NVIDIA; echo Cuda 12.8; echo done", "Cuda 12.8"),
    "no number": ("echo hello", "unknown"),
    "nothing, and a bad status": ("exit 3", "unknown"),
    "a long line": (f"echo {'7' * 500}", "7" * 120),
}


@pytest.mark.parametrize("name", VERSIONS)
def test_the_version_of_a_program(path: Path, name: str) -> None:
    script, version = VERSIONS[name]
    program(path, "tool", script)
    assert tool_versions.program("tool", hint="h") == Available(versions={"tool": version})


def test_a_program_that_cannot_be_started_is_unavailable(path: Path) -> None:
    (path / "tool").write_bytes(b"\x7fELF rubbish")
    (path / "tool").chmod(0o755)
    assert tool_versions.program("tool", hint="h") == Unavailable(reason="tool --version failed: OSError", hint="h")


@pytest.mark.parametrize(("recipe", "name"), [(HIPCC, "hipcc"), (NVCC, "nvcc")])
def test_a_hardware_toolchain_is_absent_with_advice_and_present_with_a_version(path: Path, recipe: Recipe, name: str) -> None:
    absent = recipe.availability(BUILD)
    assert isinstance(absent, Unavailable)
    assert absent.reason == f"no {name} on PATH"
    assert absent.hint.startswith("install ")
    program(path, name, "echo release 7.1")
    assert recipe.availability(BUILD) == Available(versions={name: "release 7.1"})
    (command,) = recipe.commands(BUILD, out=path)
    assert command[0] == name
    assert command[-1] == str(path / "kernel.so")
    assert {"-O3", "k.hip"} < set(command)


def test_the_protocols_own_command_needs_nothing_and_gets_the_artifact(path: Path) -> None:
    recipe = CommandRecipe()
    assert recipe.availability(BUILD) == Available(versions={})
    assert recipe.commands(BUILD, out=path) == (("cp", "src/a", str(path / "kernel.so")),)


REQUIRES = {
    "a program": (Requires(executables=("sh_absent",), hint="buy"), Unavailable(reason="no sh_absent on PATH", hint="buy")),
    "a program, no hint": (
        Requires(executables=("sh_absent",)),
        Unavailable(reason="no sh_absent on PATH", hint="install sh_absent"),
    ),
    "a device": (Requires(devices=("/dev/absent",), hint="buy"), Unavailable(reason="no device /dev/absent", hint="buy")),
    "what is here": (Requires(devices=("/dev/null",)), Available(versions={})),
}


@pytest.mark.parametrize("name", REQUIRES)
def test_a_target_may_require(path: Path, name: str) -> None:
    requires, answer = REQUIRES[name]
    recipes: dict[Toolchain, Recipe] = {Toolchain.COMMAND: CommandRecipe()}
    builder = Builder(recipes, state=path, environment=Environment(), mark="m", machine="x")
    assert builder.availability("here", Target(build=BUILD, requires=requires)) == answer


def test_a_binary_is_known_by_its_file_and_not_started(path: Path) -> None:
    file = path / "nvcc"
    file.write_bytes(Path("/bin/true").read_bytes())
    file.chmod(0o755)
    first = tool_versions.installed("nvcc")
    assert str(file) in first
    assert tool_versions.installed("nvcc") == first
    other = path / "other"
    other.write_bytes(file.read_bytes() + b"\0")
    other.replace(file)
    assert tool_versions.installed("nvcc") != first


def test_a_script_says_its_version_since_it_may_call_another_program(path: Path) -> None:
    program(path, "hipcc", "echo HIP version: 6.3")
    assert tool_versions.installed("hipcc") == "HIP version: 6.3"
    program(path, "hipcc", "echo HIP version: 6.4")
    assert tool_versions.installed("hipcc") == "HIP version: 6.4"


def copied(file: Path, more: bytes = b"") -> Path:
    """A binary that can be started; with `more`, another version."""
    made = file.with_name(f"new {file.name}")
    made.write_bytes(Path("/bin/true").read_bytes() + more)
    made.chmod(0o755)
    return made.replace(file)


@pytest.mark.parametrize("named", [True, False])
def test_a_script_that_only_starts_a_program_is_known_by_that_program(path: Path, named: bool) -> None:
    """One that does more, or starts another script, is asked for its version."""
    compiler = copied(path / "cuda")
    program(path, "nvcc", f'exec {compiler} "$@"' if named else f'exec {compiler} --x "$@"')
    first = tool_versions.installed("nvcc")
    assert (str(compiler) in first) == named
    assert tool_versions.installed("nvcc") == first
    copied(compiler, b"\0")
    assert (tool_versions.installed("nvcc") != first) == named
    compiler.unlink()
    program(path, "cuda", "echo release 7.1")
    assert tool_versions.installed("nvcc") == "release 7.1"


def test_a_link_to_what_starts_a_compiler_says_the_version_of_that(path: Path) -> None:
    """ccache starts the compiler by whose name it was called."""
    copied(path / "ccache")
    (path / "cc").symlink_to(path / "ccache")
    assert tool_versions.installed("cc").startswith("true (GNU coreutils)")


def test_what_is_not_installed_is_no_text(path: Path) -> None:
    assert not (path / "cc").exists()
    assert tool_versions.installed("cc") == ""
