"""A compiler that writes what functions compute, but neither their code nor their regions, answers where it can."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from expctl.adapters.git.reader import locate
from expctl.adapters.git.workspace import GitWorkspace
from expctl.adapters.rules.compiled_versions import CompiledVersions
from expctl.domain.protocol.model import Build, Toolchain
from expctl.domain.rules.meaning import Version, View, Wanted
from expctl.targets.sm_90 import NVCC
from tests.fakes.programs import program
from tests.fakes.stage import PROTOCOL
from tests.user_repository import Repository

NVCC_STAND_IN = """
for word; do out=$word; done
case "$*" in
  *--version*) echo "nvcc: NVIDIA (R) Cuda compiler driver"; echo "Build cuda_13.0.r13.0/compiler.1_0" ;;
  *-ptx*) { echo; echo ".version 9.0"; echo ".entry twice()"; echo "{"; cat src/kernel; echo "}"; } > "$out" ;;
  *) cat src/kernel > "$out" ;;
esac
"""


def test_a_view_that_the_compiler_does_not_write_is_no_answer(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path, "nvcc", NVCC_STAND_IN, monkeypatch)
    repository.write("src/kernel", "add.f32 %f1, %f2, %f3;\n")
    before = Version(repository.commit())
    after = Version(before.commit, repository.patch("src/kernel", b"mul.f32 %f1, %f2, %f3;\n"))
    target = next(iter(PROTOCOL.targets.values()))
    build = Build(toolchain=Toolchain.NVCC, arch="sm_90a", source="src/kernel", artifact="kernel.so")
    protocol = replace(PROTOCOL, targets={"sm_90": replace(target, build=build)})
    git = GitWorkspace(locate(repository.root))
    versions = CompiledVersions(git, {Toolchain.NVCC: NVCC}, state=tmp_path / "state", mark="test", protocol=protocol)
    assert versions.targets() == ("sm_90",)
    for view in View:
        found = versions.compiled([Wanted(each, "sm_90", view) for each in (before, after)])
        if view not in NVCC.written:
            assert found == (None, None), view
        elif view is View.MEANING:
            assert ["add.f32" in each.parts["twice"] for each in found if each is not None] == [True, False]
