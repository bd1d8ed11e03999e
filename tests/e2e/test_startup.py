"""`expctl --help` and `expctl status` start fast, for a person and an agent type them all day."""

import statistics
import subprocess
import sys
import time

import pytest

from tests.e2e.foreign import EXPCTL, Foreign

TIMES, LONG_TIMES = 7, 20
LIMITS = {"help": 10.0, "status": 22.0}
HEAVY = {"torch", "numpy", "git", "pydantic", "jinja2", "rich", "matplotlib", "mcp", "mcp_types", "anyio", "ray"}


@pytest.fixture
def commands() -> dict[str, list[str]]:
    """What is timed. The first is the yardstick: the same interpreter, doing nothing."""
    return {
        "pass": [sys.executable, "-c", "pass"],
        "help": [str(EXPCTL), "--help"],
        "status": [str(EXPCTL), "status"],
    }


@pytest.mark.alone
def test_start_is_fast(repository: Foreign, commands: dict[str, list[str]], long: bool) -> None:
    repository.propose("P1", "def total(values):\n    return sum(v * v for v in values)\n")
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(LONG_TIMES if long else TIMES):
        for name, argv in commands.items():
            started = time.perf_counter()
            subprocess.run(argv, cwd=repository.root, env=repository.environment, check=True, capture_output=True)
            times[name].append(time.perf_counter() - started)
    medians = {name: statistics.median(values) for name, values in times.items()}
    ratios = {name: medians[name] / medians["pass"] for name in LIMITS}
    print(", ".join(f"{name} {ratio:.1f}x" for name, ratio in ratios.items()))
    assert all(ratios[name] <= limit for name, limit in LIMITS.items()), ratios


def test_start_loads_nothing_heavy(repository: Foreign) -> None:
    repository.propose("P1", "def total(values):\n    return sum(v * v for v in values)\n")
    for words in (
        ["--help"],
        ["status"],
        ["status", "--json"],
        ["show", "P1"],
        ["gate"],
        ["queue"],
        ["mcp", "--help"],
        ["agents", "grants"],
        ["fleet", "--help"],
        ["fleet", "down"],
    ):
        answer = subprocess.run(
            [sys.executable, "-X", "importtime", str(EXPCTL), *words],
            cwd=repository.root,
            env=repository.environment,
            check=True,
            capture_output=True,
            text=True,
        )
        loaded = {line.rsplit("|", 1)[1].strip().split(".")[0] for line in answer.stderr.splitlines() if line.count("|") == 2}
        assert "expctl" in loaded
        assert loaded & HEAVY == set(), words


def test_what_is_typed_all_day_starts_without_its_options(repository: Foreign) -> None:
    repository.propose("P1", "def total(values):\n    return sum(v * v for v in values)\n")
    for words in (["status"], ["brief"], ["ledger"], ["rules", "check", "experiments/P1/change.patch"]):
        for _ in range(2):  # the first makes the index
            answer = subprocess.run(
                [sys.executable, "-X", "importtime", str(EXPCTL), *words],
                cwd=repository.root,
                env=repository.environment,
                check=True,
                capture_output=True,
                text=True,
            )
        loaded = {line.rsplit("|", 1)[1].strip() for line in answer.stderr.splitlines() if line.count("|") == 2}
        assert "expctl.wiring" in loaded
        assert loaded & {"typer", "click", "yaml"} == set(), words
    assert loaded & {"inspect", "expctl.domain.protocol.model", "expctl.domain.experiment.record"} == set(), "of a kept answer"
