"""The checks of `make test` can fail: each is shown a copy of the tree with one violation planted in it."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    ignore = shutil.ignore_patterns("__pycache__")
    for folder in ("expctl", "kernel"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignore)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def checked(tree: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """One tool on the copy, which shadows the installed package."""
    environment = {"PATH": f"{BIN}:/usr/bin:/bin", "PYTHONPATH": str(tree), "HOME": str(tree), "COLUMNS": "200"}
    argv = [str(BIN / words[0]), *words[1:]]
    return subprocess.run(argv, cwd=tree, env=environment, capture_output=True, text=True, timeout=240)


def plant(tree: Path, file: str, line: str) -> None:
    with open(tree / file, "a") as target:
        target.write(f"\n{line}\n")


LINTER = ("lint-imports", "--no-cache")


def test_the_copy_has_no_violation(tree: Path) -> None:
    assert checked(tree, *LINTER).returncode == 0
    assert checked(tree, "ruff", "check", "--no-cache", ".").returncode == 0


@pytest.mark.parametrize(
    ("file", "line", "contract"),
    [
        ("expctl/domain/verdict/statistics.py", "import expctl.flow.run.experiment", "Floors"),
        pytest.param("expctl/views/report.py", "import expctl.adapters.journal", "Floors", marks=pytest.mark.long),
        ("expctl/domain/verdict/statistics.py", "import expctl.domain.rules.matching", "Rooms of the domain"),
        ("expctl/flow/measuring/measure_round.py", "import expctl.flow.run.perform", "Rooms of the flow"),
        ("expctl/profiles/model/pipeline.py", "import expctl.profiles.readers.sqlite_file", "Profiles"),
        ("expctl/inspection/model/change.py", "import expctl.inspection.readers.metadata", "Inspection"),
        ("expctl/imported/document.py", "import expctl.imported.rows", "Imported ledgers"),
        ("expctl/screening/screen.py", "import expctl.screening.result_file", "Screening"),
        ("expctl/gfx11/machine/wave.py", "import expctl.gfx11.vector.floats", "The interpreter"),
        ("expctl/explain/figures.py", "import expctl.explain.explained", "Explain"),
        ("expctl/gpu/tensile/name.py", "import expctl.gpu.occupancy", "Tensile names"),
        ("expctl/flow/run/settle.py", "import expctl.gpu.tensile.name", "The run loop imports no slice"),
        pytest.param(
            "expctl/flow/run/settle.py",
            "import expctl.profiles.diff.cause",
            "The run loop imports no slice",
            marks=pytest.mark.long,
        ),
        ("expctl/domain/verdict/side.py", "import expctl.domain.verdict.samples", "No circles"),
        ("expctl/domain/verdict/statistics.py", "import subprocess", "the ports are pure"),
        pytest.param("expctl/ports/rules.py", "import time", "the ports are pure", marks=pytest.mark.long),
        ("expctl/flow/run/experiment.py", "import git", "Only the plumbing"),
        pytest.param("expctl/adapters/journal.py", "import git", "Only the plumbing", marks=pytest.mark.long),
        ("expctl/adapters/journal.py", "import subprocess", "One launcher"),
        pytest.param(
            "expctl/inspection/tool_versions.py", "from subprocess import run", "One launcher", marks=pytest.mark.long
        ),
        ("expctl/adapters/journal.py", "import numpy", "never imports the kernel's world"),
        pytest.param(
            "expctl/adapters/journal.py",
            "import kernel.runtime.library",
            "never imports the kernel's world",
            marks=pytest.mark.long,
        ),
        ("expctl/harness/report.py", "import expctl.domain.text", "needs nothing else of expctl"),
        ("expctl/screening/screen.py", "import expctl.harness.report", "Scripts alone import"),
        ("kernel/runtime/library.py", "import kernel.harness.reference", "both stand on the runtime"),
        pytest.param("kernel/op.py", "import kernel.harness.reference", "both stand on the runtime", marks=pytest.mark.long),
        ("kernel/harness/shapes.py", "import expctl.domain.text", "interpreter and the library alone"),
        pytest.param(
            "kernel/harness/shapes.py",
            "import expctl.gfx11.launch",
            "interpreter and the library alone",
            marks=pytest.mark.long,
        ),
    ],
)
def test_import_linter_fails_on(tree: Path, file: str, line: str, contract: str) -> None:
    plant(tree, file, line)
    answer = checked(tree, *LINTER)
    assert answer.returncode != 0
    broken = [text for text in answer.stdout.splitlines() if "BROKEN" in text]
    assert any(contract in text for text in broken), answer.stdout


def test_ruff_fails_on_an_unused_import(tree: Path) -> None:
    plant(tree, "expctl/domain/queue/ordering.py", "import json")
    answer = checked(tree, "ruff", "check", "--no-cache", ".")
    assert answer.returncode == 1
    assert "F401" in answer.stdout


def test_mypy_fails_on_a_wrong_type(tree: Path) -> None:
    plant(tree, "expctl/domain/queue/ordering.py", "LIMIT: int = 'ten'")
    answer = checked(tree, "mypy", "expctl/domain/queue/ordering.py")
    assert answer.returncode == 1
    assert "Incompatible types in assignment" in answer.stdout


# ------------------------------------------------------------------ what no import shows

STARTS = re.compile(r"\b(?:os|posix|pty|asyncio)\.(?:fork|exec\w+|spawn\w+|posix_spawn\w*|system|popen|create_subprocess\w*)\(")
# Three start no program: they read in parts. The attempts are made by a child that the launcher has started.
FORKS = {
    "expctl/launcher/namespaces.py",
    "expctl/launcher/own_processes.py",
    "expctl/adapters/index/parallel.py",
    "expctl/inspection/readers/compiled_functions.py",
    "expctl/profiles/readers/split_read.py",
    "expctl/adapters/walls/attempts.py",
}


def starters(tree: Path) -> set[str]:
    return {str(path.relative_to(tree)) for path in (tree / "expctl").rglob("*.py") if STARTS.search(path.read_text())}


def test_nothing_but_the_launcher_starts_a_process(tree: Path) -> None:
    assert starters(tree) == FORKS
    plant(tree, "expctl/views/report.py", "os.system('true')")
    assert starters(tree) == {*FORKS, "expctl/views/report.py"}
