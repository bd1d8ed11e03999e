"""Which build the operator takes, and what it says where there is none."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernel.operator import builds
from kernel.runtime import build
from kernel.runtime.build import BuildError
from kernel.runtime.library import Library, LibraryError


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    builds.library_for.cache_clear()
    yield
    builds.library_for.cache_clear()


def test_of_several_named_builds_the_one_for_the_target_is_taken(
    cpu_library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(builds.VARIABLE, os.pathsep.join([str(tmp_path / "none.so"), str(cpu_library.path)]))
    assert builds.library_for("cpu").path == cpu_library.path
    with pytest.raises(LibraryError, match=r"names no usable build for sm_90: .*none.so.*; .*built for cpu, expected sm_90"):
        builds.library_for("sm_90")


def test_a_build_is_made_once_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(builds.VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first = builds.library_for("cpu").path
    assert first.is_relative_to(tmp_path)
    made = first.stat().st_mtime_ns
    builds.library_for.cache_clear()
    assert builds.library_for("cpu").path.stat().st_mtime_ns == made
    assert [path.name for path in first.parent.iterdir()] == ["scaled_mm.so"]
    monkeypatch.setattr(build, "ZIG_CPP", (*build.ZIG_CPP, "-g"))
    assert builds.kept("cpu").parent != first.parent


def test_without_a_compiler_it_says_what_to_install_or_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(builds.VARIABLE, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    for target, tool, what in (("sm_90", "nvcc", "the CUDA toolkit"), ("gfx1151", "hipcc", "ROCm")):
        with pytest.raises(BuildError, match=f"{tool} is not on PATH: install {what}, or name a build .*EXPCTL_KERNEL_LIBRARY"):
            builds.library_for(target)
