"""A build command's compiler is known, so that a new one begins an epoch."""

import os
import stat
from pathlib import Path

import pytest

from expctl.domain.protocol.model import Build, Toolchain
from expctl.domain.run.step_result import Available
from expctl.targets import command
from expctl.targets.command import CommandRecipe


@pytest.fixture(autouse=True)
def _forgets() -> None:
    command._versions.cache_clear()


def program(folder: Path, name: str, version: str) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{name} {version}'\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def versions(*argv: str) -> dict[str, str]:
    found = CommandRecipe().availability(Build(toolchain=Toolchain.COMMAND, argv=argv, artifact="kernel.so"))
    assert isinstance(found, Available)
    return dict(found.versions)


def test_the_compiler_of_the_command_is_named_with_its_version(tmp_path: Path) -> None:
    compiler = str(program(tmp_path, "gcc-12", "12.2.0"))
    assert versions(compiler, "-O3", "src/dot.c", "-o", "{artifact}") == {compiler: "gcc-12 12.2.0"}


def test_a_build_tool_calls_the_compilers_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("cc", "c++", "make"):
        program(tmp_path, name, "7")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/usr/bin{os.pathsep}/bin")
    assert versions("sh", "-c", 'make -s libdot.so && cp libdot.so "$0"', "{artifact}") == {"cc": "cc 7", "c++": "c++ 7"}


def test_what_is_no_compiler_is_not_run() -> None:
    assert versions("sh", "-c", "cp src/kernel.py {artifact}") == {}
