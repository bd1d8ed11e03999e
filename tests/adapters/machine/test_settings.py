"""The settings that a record keeps for a target."""

from pathlib import Path

import pytest

from expctl.adapters.machine.linux_facts import linux_facts
from expctl.adapters.machine.settings import TargetSettings
from expctl.domain.environment.snapshot import Linux
from expctl.domain.protocol.model import Build, Environment, Target, Toolchain
from tests.adapters.machine.test_cards import NVIDIA, lay
from tests.fakes.programs import program

LINUX = {
    "proc/sys/kernel/numa_balancing": "1\n",
    "sys/devices/system/node/node0/cpulist": "0-7",
    "sys/devices/system/node/node1/cpulist": "8-15",
    "sys/devices/system/node/online": "0-1",
    "sys/devices/system/cpu/cpufreq/policy0/scaling_governor": "powersave\n",
    "sys/devices/system/cpu/cpufreq/policy1/scaling_governor": "performance\n",
    "sys/devices/system/cpu/cpufreq/policy1/energy_performance_preference": "performance\n",
    "sys/firmware/acpi/platform_profile": "balanced\n",
    "dev/nvidia0": "",
}


def test_linux(tmp_path: Path) -> None:
    assert linux_facts(lay(tmp_path, LINUX)) == Linux(
        numa_balancing="1",
        numa_nodes=2,
        governors=("performance", "powersave"),
        preferences=("performance",),
        platform_profile="balanced",
    )
    assert linux_facts(tmp_path / "nothing") == Linux()


def test_a_gpu_target_has_the_cards_and_a_cpu_target_has_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = f"echo x >> {tmp_path}/calls; cat <<'E'\n{NVIDIA.splitlines()[0]}\nE"
    program(tmp_path, "nvidia-smi", script, monkeypatch)
    monkeypatch.setenv("TRITON_CACHE_DIR", "/home/me/cache")
    monkeypatch.setenv("CUDA_MODULE_LOADING", "LAZY")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    monkeypatch.setenv("HIP_OTHER", "1")
    passes = ("CUDA_VISIBLE_DEVICES", "CUDA_MODULE_LOADING", "HIP_ABSENT")
    settings = TargetSettings(Environment(pass_through=passes, set={"OMP_NUM_THREADS": "1"}), lay(tmp_path, LINUX))
    gpu, cpu = (settings(Target(build=Build(toolchain=each))) for each in (Toolchain.NVCC, Toolchain.ZIG_CPU))
    assert gpu["settings"] == cpu["settings"] == "NUMA balancing 1; platform balanced"
    assert gpu["cards"] == "nvidia 9.0: 700 W, ECC on, MIG off"
    assert "cards" not in cpu
    assert gpu["variables"] == cpu["variables"] == "CUDA_MODULE_LOADING=LAZY"
    assert gpu["fingerprint"] != cpu["fingerprint"]
    settings(Target(build=Build(toolchain=Toolchain.NVCC)))
    assert (tmp_path / "calls").read_text() == "x\n"
