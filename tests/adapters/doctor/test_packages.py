"""What the doctor says of the packages that steps import."""

import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from expctl.adapters.child.interpreter import with_interpreter
from expctl.adapters.doctor.packages import package_findings
from expctl.domain.checkup import Health
from expctl.domain.errors import Refused
from expctl.domain.protocol.model import Build, Environment, Protocol, Target, Toolchain
from expctl.domain.protocol.step import LimitedStep

STEP = LimitedStep(argv=("{python}", "bench/test.py", "{artifact}"), timeout_s=1.0)
TARGET = Target(build=Build(toolchain=Toolchain.COMMAND, argv=("true",)), test=STEP)
PROTOCOL = Protocol(version=1, name="x", scope=("src",), harness=("bench",), decides=("here",), targets={"here": TARGET})


def found(root: Path, script: str) -> list[tuple[Health, str]]:
    (root / "bench").mkdir(exist_ok=True)
    (root / "bench/test.py").write_text(script)
    (root / "bench/say.py").write_text("")
    return [(each.health, each.what) for each in package_findings(PROTOCOL, Environment(), root)]


def test_a_package_that_steps_lack_is_wrong(tmp_path: Path) -> None:
    assert found(tmp_path, "import os, say\nimport nowhere_to_be_found.at_all\n") == [
        (Health.WRONG, f"bench/test.py imports nowhere_to_be_found, which {sys.executable} lacks")
    ]


def test_one_that_only_pythonpath_shows_is_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/only_by_path.py").write_text("")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "elsewhere"))
    ((health, what),) = found(tmp_path, "import only_by_path\n")
    assert health is Health.WRONG
    assert "seen through PYTHONPATH" in what


def test_what_is_there_is_right(tmp_path: Path) -> None:
    assert [health for health, _ in found(tmp_path, "import msgspec, sys\n")] == [Health.OK]


def test_another_interpreter_gets_the_harness_library_and_a_missing_one_is_refused(tmp_path: Path) -> None:
    link = tmp_path / ".venv/bin/python"
    link.parent.mkdir(parents=True)
    link.symlink_to(sys.executable)
    made = with_interpreter(Environment(python=".venv/bin/python"), root=tmp_path, state=tmp_path / "state")
    assert made.python == str(link)
    assert (Path(made.set["PYTHONPATH"]) / "expctl/__init__.py").is_file()
    own = sys.executable.removeprefix("/")
    assert with_interpreter(Environment(python=own), root=Path("/"), state=tmp_path).python == sys.executable
    assert with_interpreter(replace(made, python=""), root=tmp_path, state=tmp_path).python == ""
    with pytest.raises(Refused) as refusal:
        with_interpreter(Environment(python="no/python"), root=tmp_path, state=tmp_path)
    assert refusal.value.code == "interpreter-missing"
