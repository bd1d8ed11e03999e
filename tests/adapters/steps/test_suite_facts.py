"""What an environment of a suite is: packages as pip freeze lists them, commits of checkouts, variables."""

import subprocess
import venv
from pathlib import Path

import pytest

from expctl.adapters.steps.suite_facts import environment_facts
from expctl.domain.errors import Refused
from expctl.domain.protocol.model import Environment

SECRET = "hunter2-" + 30 * "k"


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment without pip that seems to have two packages, one of them from a repository."""
    folder = tmp_path_factory.mktemp("venv")
    venv.create(folder, with_pip=False)
    packages = next(folder.glob("lib/python*/site-packages"))
    for name, version in (("triton", "3.4.0"), ("aiter", "0.1")):
        (packages / f"{name}-{version}.dist-info").mkdir()
        (packages / f"{name}-{version}.dist-info/METADATA").write_text(f"Name: {name}\nVersion: {version}\n")
    origin = '{"url": "https://example.org/aiter", "vcs_info": {"vcs": "git", "commit_id": "226c2a87b"}}'
    (packages / "aiter-0.1.dist-info/direct_url.json").write_text(origin)
    return folder / "bin/python"


def test_packages_variables_and_rocm(python: Path, tmp_path: Path) -> None:
    (tmp_path / ".info").mkdir()
    (tmp_path / ".info/version").write_text("7.2.0-43\n")
    environment = Environment(python=str(python), set={"ASYNC_COPY": "1", "API_TOKEN": SECRET}, pass_through=("UNSET_HERE",))
    facts = environment_facts(environment, {}, rocm=tmp_path)
    assert facts["packages"] == {"aiter": "0.1 @ 226c2a87b", "triton": "3.4.0"}
    assert (facts["python"], facts["rocm_version"]) == (str(python), "7.2.0-43")
    variables = facts["variables"]
    assert isinstance(variables, dict)
    assert variables["ASYNC_COPY"] == "1"
    assert set(variables) == {"ASYNC_COPY", "API_TOKEN"}
    assert SECRET not in variables["API_TOKEN"]


def test_commits_of_checkouts(python: Path, tmp_path: Path) -> None:
    def git(*words: str) -> str:
        who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        return subprocess.run(["git", *who, *words], cwd=tmp_path, check=True, capture_output=True, text=True).stdout.strip()

    git("init", "-q", "-b", "main")
    (tmp_path / "a.py").write_text("a = 1\n")
    git("add", "a.py")
    git("commit", "-q", "-m", "one")
    environment = Environment(python=str(python))
    facts = environment_facts(environment, {"aiter": tmp_path})
    assert (facts["aiter_commit"], facts["aiter_branch"], facts["aiter_edited"]) == (git("rev-parse", "HEAD"), "main", "no")
    (tmp_path / "a.py").write_text("a = 2\n")
    first = str(environment_facts(environment, {"aiter": tmp_path})["aiter_edited"])
    assert first.startswith("yes (")
    (tmp_path / "a.py").write_text("a = 3\n")
    assert environment_facts(environment, {"aiter": tmp_path})["aiter_edited"] != first
    with pytest.raises(Refused) as refused:
        environment_facts(environment, {"aiter": tmp_path / "gone"})
    assert refused.value.code == "suite-checkout-missing"


def test_an_interpreter_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(Refused) as refused:
        environment_facts(Environment(python="/bin/false"), {"a": tmp_path})
    assert refused.value.code == "suite-interpreter-broken"
