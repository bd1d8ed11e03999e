"""Bursts and back to back on the CPU, and the driver's energy meter by a stand-in."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.operator.back_to_back import shown, timed
from benchmarks.operator.energy import EnergyMeter
from kernel.rivals.timing import Turn

ROOT = Path(__file__).resolve().parents[2]


class EightNs(Turn):
    """A product takes 8 ns."""

    def prepare(self) -> None:
        pass

    def once(self) -> None:
        pass

    def total_ns(self, repeats: int) -> float:
        return 8.0 * repeats * len(self._sets)


@pytest.fixture(scope="session")
def nvml(tmp_path_factory: pytest.TempPathFactory) -> str:
    library = tmp_path_factory.mktemp("nvml") / "libnvidia-ml.so.1"
    source = Path(__file__).with_name("fake_nvml.c")
    subprocess.run([sys.executable, "-m", "ziglang", "cc", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    return str(library)


def test_the_meter_reads_joules(nvml: str) -> None:
    meter = EnergyMeter("GPU-7", nvml)
    first = meter.joules()
    assert meter.joules() - first == 2.5


def test_a_card_or_a_driver_that_is_missing_is_said(nvml: str) -> None:
    with pytest.raises(RuntimeError, match=r"nvmlDeviceGetHandleByUUID of .* returned 6"):
        EnergyMeter("GPU-8", nvml)
    with pytest.raises(RuntimeError, match=r"no energy is known: no\.so"):
        EnergyMeter("GPU-7", "no.so")


def test_joules_are_those_of_a_product(nvml: str) -> None:
    turn = EightNs(lambda _: None, [None, None])  # type: ignore[arg-type,return-value,list-item]
    assert turn.products(8e-6) == 1000
    found = timed({"this kernel": turn}, 3, 8e-6, EnergyMeter("GPU-7", nvml))
    assert found == {"this kernel": {"median_ns": 8.0, "ns": [8.0] * 3, "joules": 2.5 / 1000}}
    line = shown({"name": "n=8", "config": "1", "bursts": found, "back_to_back": found}).splitlines()[-1]
    assert "0.01 us  ours is 1.000x" in line
    assert line.endswith(" 2.500 mJ")


def test_a_cpu_has_both_ways_and_no_joules(tmp_path: Path) -> None:
    out = tmp_path / "found.json"
    argv = [sys.executable, "-m", "benchmarks.operator.back_to_back", "--device", "cpu", "--sizes", "16x64x64"]
    argv += ["--only", "naive", "--rounds", "3", "--seconds", ".01", "--out", str(out)]
    subprocess.run(argv, cwd=ROOT, check=True, capture_output=True)
    (size,) = json.loads(out.read_text())["sizes"]
    assert size["name"] == "m=16 n=64 k=64"
    for way in (size["bursts"], size["back_to_back"]):
        assert sorted(way) == ["naive", "this kernel"]
        assert all(len(each["ns"]) == 3 and "joules" not in each for each in way.values())
