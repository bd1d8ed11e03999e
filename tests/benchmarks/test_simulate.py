"""The short form of the simulation: the published noise, and the verdict's error rates with loose bounds."""

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "benchmarks/verdict"


def test_the_machines_have_the_published_noise() -> None:
    code = (
        "import numpy as np, machines as m\n"
        "for each in m.MACHINES:\n"
        "    d = m.round_effects(np.random.default_rng(1), each, 400, 36).mean(axis=2).std()\n"
        "    assert abs(d / each.round_sd - 1) < 0.06, (each.name, d)\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=FOLDER, check=True, timeout=120)


def test_the_simulation_prints_its_table() -> None:
    done = subprocess.run(
        [sys.executable, "simulate.py", "--trials", "60"], cwd=FOLDER, check=False, capture_output=True, text=True, timeout=200
    )
    assert done.returncode in (0, 1), done.stderr
    for words in ("quiet", "typical", "noisy", "Mann-Whitney", "rare slow mode", "t3 tails", "autocorrelation"):
        assert words in done.stdout
