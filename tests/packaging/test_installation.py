"""The wheel, installed as a stranger installs it: without this repository, its constraints and its extras."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_string
from pathlib import Path

import pytest

from expctl.inspection.device_compiler import Options, compile_source
from tests.e2e.foreign import FASTER, Foreign
from tests.packaging.pythons import pythons

ROOT = Path(__file__).parents[2]
UV = shutil.which("uv", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
pytestmark = pytest.mark.skipif(UV is None, reason="uv is not installed: pip install -e '.[test]'")

NEWEST, OLDEST = "highest", "lowest-direct"
HERE = f"3.{sys.version_info.minor}"
# One case always, all of them with --long.
CASES = [
    pytest.param(version, which, marks=[] if (version, which) == (HERE, NEWEST) else [pytest.mark.long])
    for version in pythons()
    for which in (NEWEST, OLDEST)
]
SOURCE = "#include <hip/hip_runtime.h>\n__global__ void twice(float *x) { x[threadIdx.x] *= 2.0f; }\n"


def uv(*words: str | Path, **environment: str) -> str:
    """What uv says; no interpreter is downloaded."""
    settings = {**os.environ, "UV_PYTHON_DOWNLOADS": "never", "UV_NO_PROGRESS": "1", **environment}
    settings.pop("VIRTUAL_ENV", None)
    ended = subprocess.run([str(UV), *map(str, words)], env=settings, capture_output=True, text=True)
    assert ended.returncode == 0, f"uv {words}: {ended.stderr}"
    return ended.stdout


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, made of what git tracks or would track, and the wheel that is made of that sdist."""
    source, made = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("built")
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file() and not name.startswith(("experiments/", "tests/", "benchmarks/")):
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, source / name)
    uv("build", "--quiet", "--out-dir", made, source)
    return made


@pytest.fixture(scope="session")
def wheel(built: Path) -> Path:
    (found,) = built.glob("*.whl")
    return found


@pytest.fixture(scope="session")
def assembly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A kernel's assembly, which the installed expctl can inspect without a compiler."""
    source = tmp_path_factory.mktemp("assembly") / "twice.hip"
    source.write_text(SOURCE)
    made = source.with_suffix(".s")
    made.write_text(compile_source(source, Options(arch="gfx1151")).assembly)
    return made


def installed(wheel: Path, python: Path, resolution: str, folder: Path) -> Path:
    """The `expctl` of a new environment that holds the wheel, and of each dependency the newest or the oldest allowed."""
    uv("venv", "--quiet", "--python", python, folder)
    uv("pip", "install", "--quiet", "--no-build", "--python", folder / "bin/python", "--resolution", resolution, wheel)
    return folder / "bin" / "expctl"


@pytest.mark.parametrize(("version", "which"), CASES)
def test_a_stranger_measures_an_experiment(version: str, which: str, wheel: Path, assembly: Path, tmp_path: Path) -> None:
    program = installed(wheel, pythons()[version], which, tmp_path / "environment")
    stranger = Foreign.of("foreign_repository", tmp_path)

    def expctl(*words: str | Path, status: int = 0, **more: str) -> str:
        environment = {**stranger.environment, **more}
        ended = subprocess.run([program, *words], cwd=stranger.root, env=environment, capture_output=True, text=True)
        said = ended.stdout + ended.stderr
        assert ended.returncode == status, f"{words}: {said}"
        assert "BUG" not in said
        return said

    assert expctl("--version") == f"expctl {wheel.name.split('-')[1]}\n"
    assert "Usage: expctl COMMAND" in expctl()
    assert "  pip install 'expctl[plot]'" in expctl("--help")
    assert expctl("show", status=2).startswith("Error [usage]: Missing argument 'ID'.")
    assert "Error [usage]: No such option" in expctl("run", "--frob", status=2)
    assert "--priority" in expctl("queue", "--help")

    own_protocol = (stranger.root / "protocol.yaml").read_text()
    (stranger.root / "protocol.yaml").unlink()
    expctl("init")
    assert (stranger.root / "protocol.yaml").read_text() != own_protocol
    stranger.git("reset", "-q", "--hard")
    stranger.git("clean", "-q", "-f", "-d")

    assert "vgpr" in expctl("inspect", assembly)
    if shutil.which("hipcc") is None:
        assert "pip install 'expctl[cpu]'" in expctl("inspect", assembly.with_suffix(".hip"), status=1)

    stranger.write("src/total.py", FASTER)
    expctl("new", "P1", "--from-diff")
    assert "KEEP" in expctl("run", "P1")
    assert expctl(_EXPCTL_COMPLETE="complete_bash", COMP_WORDS="expctl show P", COMP_CWORD="2") == "P1\n"
    assert (stranger.root / "src/total.py").read_text() == FASTER
    assert stranger.git("status", "--porcelain") == ""
    expctl("ledger", "--check")
    assert expctl("replay", "--all").startswith("P1 ")
    assert "pip install 'expctl[plot]'" in expctl("show", "P1", "--plot", "out.png", status=1)


def test_the_wheel_holds_the_package_alone_and_whole(built: Path, wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
        (license_file,) = [name for name in archive.namelist() if name.endswith("/LICENSE")]
        assert archive.read(license_file) == (ROOT / "LICENSE").read_bytes()
    tracked = subprocess.run(["git", "ls-files", "-z", "expctl"], cwd=ROOT, check=True, capture_output=True, text=True)
    assert {name for name in tracked.stdout.split("\0") if name} - held == set()
    assert {name.partition("/")[0] for name in held} == {"expctl"}
    assert "expctl/py.typed" in held
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"README.md", "LICENSE", "CHANGELOG.md", "pyproject.toml", "docs/HARNESS.md", *held} - names == set()


def test_the_metadata_is_fit_for_an_index(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        found = message_from_string(archive.read(name).decode())
    assert found["License-Expression"] == "MIT"
    assert found["Requires-Python"] == ">=3.11"
    assert found["Description-Content-Type"] == "text/markdown"
    assert str(found.get_payload()).startswith("# ")
    classifiers = found.get_all("Classifier") or []
    assert "Typing :: Typed" in classifiers
    assert f"Programming Language :: Python :: {HERE}" in classifiers
    assert {"cpu", "plot", "sweep"} <= set(found.get_all("Provides-Extra") or [])


def test_uv_installs_it_as_a_tool(wheel: Path, tmp_path: Path) -> None:
    folders = {"UV_TOOL_DIR": str(tmp_path / "tools"), "UV_TOOL_BIN_DIR": str(tmp_path / "bin")}
    uv("tool", "install", "--quiet", "--python", pythons()[HERE], f"expctl[plot] @ {wheel.as_uri()}", **folders)
    said = subprocess.run([tmp_path / "bin/expctl", "--version"], check=True, capture_output=True, text=True)
    assert said.stdout.startswith("expctl ")


@pytest.mark.long
def test_pipx_installs_it(wheel: Path, tmp_path: Path) -> None:
    folders = {"PIPX_HOME": str(tmp_path / "home"), "PIPX_BIN_DIR": str(tmp_path / "bin"), "PIPX_MAN_DIR": str(tmp_path)}
    uv("tool", "run", "--python", pythons()[HERE], "pipx", "install", wheel, **folders)
    said = subprocess.run([tmp_path / "bin/expctl", "--version"], check=True, capture_output=True, text=True)
    assert said.stdout.startswith("expctl ")


@pytest.mark.long
def test_an_index_takes_the_files(built: Path) -> None:
    uv("tool", "run", "--python", pythons()[HERE], "twine", "check", "--strict", *built.glob("expctl-*"))
