"""The kernel's own files about clocks and drivers, laid out as it lays them out."""

from pathlib import Path

import pytest

from expctl.adapters.machine.clock_policy import clock_policy, driver


def lay(root: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


CPU = "sys/devices/system/cpu/"


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, ""),
        (
            {
                f"{CPU}cpufreq/policy0/scaling_governor": "performance\n",
                f"{CPU}cpufreq/policy1/scaling_governor": "performance\n",
            },
            "performance",
        ),
        (
            {f"{CPU}cpufreq/policy0/scaling_governor": "powersave\n", f"{CPU}intel_pstate/no_turbo": "1\n"},
            "powersave, boost off",
        ),
        (
            {f"{CPU}cpufreq/boost": "1\n", "sys/class/drm/card0/device/power_dpm_force_performance_level": "auto\n"},
            "boost on, gpu auto",
        ),
    ],
)
def test_who_sets_the_clocks(tmp_path: Path, files: dict[str, str], words: str) -> None:
    assert clock_policy(lay(tmp_path, files)) == words


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, ""),
        (
            {"proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue\nGCC version: 12\n"},
            "nvidia 550.54.15",
        ),
        (
            {"proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release\n"},
            "nvidia 570.86.15",
        ),
        ({"sys/module/amdgpu/version": "6.8.5\n"}, "amdgpu 6.8.5"),
    ],
)
def test_whose_driver_runs_the_gpu(tmp_path: Path, files: dict[str, str], words: str) -> None:
    assert driver(lay(tmp_path, files)) == words
