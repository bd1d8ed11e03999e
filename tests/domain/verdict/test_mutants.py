"""Each fault that somebody might plant in the deciding code fails a test. The list: tests/cases/verdict_mutants.yaml."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[3]
MUTANTS: list[dict[str, str]] = yaml.safe_load((ROOT / "tests/cases/verdict_mutants.yaml").read_text())
SAMPLE = MUTANTS if "EXPCTL_TESTS_LONG" in os.environ else MUTANTS[9::12]
# In the order in which they find most for the least time; what simulates hundreds of runs is left out.
TESTS = [
    "test_confirmation.py",
    "test_sequential_test.py",
    "test_reasons.py",
    "test_lives.py",
    "test_untimed_work.py",
    "test_cost_to_decide.py",
]


def failing(folder: Path) -> str:
    """The first test that fails on the copy in `folder`; empty when all pass."""
    argv = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-k", "not the_quoted_rounds"]
    files = [f"tests/domain/verdict/{name}" for name in TESTS]
    environment = {key: value for key, value in os.environ.items() if key != "EXPCTL_TESTS_LONG"}
    done = subprocess.run([*argv, *files], cwd=folder, env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return "" if done.returncode == 0 else done.stdout.split("FAILED ")[1].splitlines()[0]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The pure part of the package and its tests, without the rest."""
    for name in ("pyproject.toml", "expctl/__init__.py", "tests/__init__.py", "tests/conftest.py", "tests/domain/__init__.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    for name in ("expctl/domain", "tests/domain/verdict"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def test_there_are_mutants_of_every_part_and_each_says_why() -> None:
    assert len(MUTANTS) >= 25
    assert len({(each["file"], each["old"], each["new"]) for each in MUTANTS}) == len(MUTANTS)
    assert {each["file"].split("/")[1].removesuffix(".py") for each in MUTANTS} >= {
        "boundaries", "cost_to_decide", "evidence", "lasting_gain", "plan", "sequential_test", "statistics",
        "untimed_work",
    }  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda each: each["why"])
def test_a_mutant_changes_one_place(mutant: dict[str, str]) -> None:
    assert (ROOT / "expctl/domain" / mutant["file"]).read_text().count(mutant["old"]) == 1
    assert mutant["old"] != mutant["new"]


@pytest.mark.long
def test_without_a_mutant_nothing_fails(copy: Path) -> None:
    assert failing(copy) == ""


@pytest.mark.parametrize("mutant", SAMPLE, ids=lambda each: each["why"])
def test_a_mutant_is_found(mutant: dict[str, str], copy: Path) -> None:
    file = copy / "expctl/domain" / mutant["file"]
    file.write_text(file.read_text().replace(mutant["old"], mutant["new"]))
    assert failing(copy), f"no test sees this: {mutant['why']}"
