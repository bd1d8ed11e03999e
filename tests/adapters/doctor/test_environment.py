"""The snapshot of a faked machine: its files below a folder, stand-ins for its tools and for the packages of its Python."""

from pathlib import Path

import pytest

from expctl.adapters.doctor.environment import snapshot_of
from expctl.adapters.doctor.tuned_file_reader import aiter_tables, known_validators, tunableop_files
from expctl.domain.environment.audit import advice, audit
from expctl.domain.environment.snapshot import Snapshot, TorchFacts, Vendor
from expctl.domain.protocol.model import Build, Environment, Protocol, Requires, Target, Toolchain
from expctl.domain.protocol.step import LimitedStep
from tests.adapters.doctor.test_torch_answers import TORCH
from tests.adapters.machine.test_cards import NVIDIA, STRIX, SYSFS, lay
from tests.adapters.machine.test_settings import LINUX
from tests.domain.environment.cases import ROCM
from tests.domain.environment.test_tuned_files import RESULTS, TABLE
from tests.fakes.programs import program

ROCM_FILES = {**SYSFS, **LINUX, "dev/kfd": "", "opt/rocm/.info/version": "7.2.0-66\n"}
PACKAGES = {
    **TORCH,
    "torch-2.9.1+rocm7.2.dist-info/METADATA": "Name: torch\nVersion: 2.9.1+rocm7.2\n",
    "amd_aiter-0.1.7.dist-info/METADATA": "Name: amd-aiter\nVersion: 0.1.7\n",
    "amd_aiter-0.1.7.dist-info/top_level.txt": "aiter\n",
    "aiter/__init__.py": "raise RuntimeError('nothing may import me')\n",
    "aiter/configs/bf16_tuned_gemm.csv": TABLE.splitlines()[0] + "\n",
    "aiter/configs/bf16_untuned_gemm.csv": TABLE,
    "aiter/configs/model_configs/bf16_tuned_gemm_llama.csv": TABLE,
}
SCRIPT = "import torch\nf = torch.compile(print)\n"


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A Strix Halo, and the repository and the packages that are on it."""
    lay(tmp_path / "site", PACKAGES)
    lay(
        tmp_path / "repository", {"bench/test.py": SCRIPT, "tunableop_results0.csv": RESULTS, "tunableop_untuned0.csv": RESULTS}
    )
    return lay(tmp_path, ROCM_FILES)


def protocol(toolchain: Toolchain = Toolchain.HIPCC, *, devices: tuple[str, ...] = ("/dev/kfd",)) -> Protocol:
    target = Target(
        build=Build(toolchain=toolchain),
        requires=Requires(devices=devices),
        test=LimitedStep(argv=("{python}", "bench/test.py"), timeout_s=30.0),
    )
    return Protocol(version=1, name="x", scope=("s",), harness=("bench",), decides=("gpu",), targets={"gpu": target})


def taken(machine: Path, environment: Environment, *, made_for: Protocol | None = None, asks_torch: bool = False) -> Snapshot:
    made = protocol() if made_for is None else made_for
    return snapshot_of(made, environment, machine / "repository", asks_torch=asks_torch, machine=machine)


def variables(machine: Path, **more: str) -> Environment:
    return Environment(set={"PYTHONPATH": str(machine / "site"), **more})


def test_a_strix_halo_as_it_comes(machine: Path) -> None:
    found = taken(machine, variables(machine))
    assert (found.vendors, found.cards) == (frozenset((Vendor.AMD,)), (STRIX,))
    assert (found.packages["torch"], set(found.packages)) == ("2.9.1+rocm7.2", {"torch", "aiter"})
    assert found.validators == {"PT_VERSION": "2.9.1", "GCN_ARCH_NAME": "gfx1151", "ROCM_VERSION": "7.2", "HIP_VERSION": "702"}
    assert found.torch == TorchFacts()  # not asked
    said = [each.what for each in advice(found)]
    for words in (
        "GPU_MAX_HW_QUEUES: not set",
        "NUMA balancing: on, and this machine has 2 nodes",
        "power profile of the platform: balanced",
        "power limit: amdgpu card1: limit 85 W, the default is 120 W",
        "power profile: amdgpu card1: BOOTUP_DEFAULT, not COMPUTE",
        "display on the card: amdgpu card1 drives a display",
        "ECC: amdgpu card1: 2 errors",
        "PYTORCH_TUNABLEOP_ENABLED: not set",
        "first compilation: gpu.test ends after 30 s, and bench/test.py uses torch.compile",
        "results of TunableOp: tunableop_results0.csv is refused as stale: GCN_ARCH_NAME gfx942:sramecc+:xnack-, here gfx1151",
        "tuned shapes of aiter: aiter 0.1.7 has no tuned shape for gfx1151 with 40 CUs, of 3 in 2 tables",
    ):
        assert words in " | ".join(said), said


def test_doctor_env_asks_torch_itself(machine: Path) -> None:
    found = taken(machine, variables(machine, **ROCM), asks_torch=True)
    assert (found.torch.precision, found.torch.trouble) == ("highest", "")
    said = " | ".join(each.what for each in audit(found))
    assert "hidden inductor defaults: max_autotune is True, torch ships False" in said
    assert "float32 matmul precision: highest" in said
    assert "HIPBLASLT_VERSION 100202-dabb6df2b9, here 100202-d" in said
    assert "GPU_MAX_HW_QUEUES: 2" in said


def test_a_target_on_the_cpu_is_asked_for_nothing_of_a_gpu(machine: Path) -> None:
    found = taken(machine, Environment(), made_for=protocol(Toolchain.ZIG_CPU, devices=()))
    assert (found.vendors, found.cards) == (frozenset(), ())
    assert not [each for each in advice(found) if "amdgpu" in each.what or "HIP" in each.what]


def test_an_nvidia_card_beside_it_is_not_asked_for_by_an_amd_protocol(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(machine, "nvidia-smi", f"cat <<'E'\n{NVIDIA}\nE", monkeypatch)
    assert [each.vendor for each in taken(machine, Environment()).cards] == [Vendor.AMD]
    found = taken(machine, Environment(), made_for=protocol(Toolchain.NVCC, devices=("/dev/nvidia0",)))
    said = " | ".join(each.what for each in advice(found))
    assert "MIG is on" in said
    assert "persistence: nvidia 1: off" in said
    assert "amdgpu" not in said


def test_without_a_protocol_it_is_this_shell(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPU_MAX_HW_QUEUES", "2")
    monkeypatch.setenv("TORCHINDUCTOR_MAX_AUTOTUNE", "1")
    monkeypatch.setenv("PYTHONPATH", str(machine / "site"))
    found = snapshot_of(None, Environment(), machine / "repository", machine=machine)
    assert found.vendors == set(Vendor)
    said = " | ".join(each.what for each in audit(found))
    assert "GPU_MAX_HW_QUEUES: 2" in said
    assert "TORCHINDUCTOR_MAX_AUTOTUNE=1 reaches the steps" in said


def test_a_variable_of_the_shell_reaches_a_step_only_if_it_is_passed(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPU_MAX_HW_QUEUES", "2")
    assert "GPU_MAX_HW_QUEUES: not set" in [each.what for each in advice(taken(machine, Environment()))]
    passed = Environment(pass_through=("GPU_MAX_HW_QUEUES",))
    assert "GPU_MAX_HW_QUEUES: not set" not in [each.what for each in advice(taken(machine, passed))]


@pytest.mark.parametrize(
    ("name", "files", "found"),
    [
        (
            "",
            ["tunableop_results.csv", "tunableop_results7.csv", "other.csv"],
            ["tunableop_results.csv", "tunableop_results7.csv"],
        ),
        ("tuned.csv", ["tuned0.csv", "tunableop_results0.csv"], ["tuned0.csv"]),
        ("t%d_mine.csv", ["t3_mine.csv", "t_mine.txt"], ["t3_mine.csv"]),
        ("nowhere/tuned.csv", [], []),
    ],
)
def test_which_files_torch_would_read(name: str, files: list[str], found: list[str], tmp_path: Path) -> None:
    lay(tmp_path, dict.fromkeys(files, RESULTS))
    given = {"PYTORCH_TUNABLEOP_FILENAME": name} if name else {}
    assert [each.path for each in tunableop_files(given, tmp_path)] == found


def test_tables_that_a_variable_names(tmp_path: Path) -> None:
    lay(tmp_path, {"mine.csv": TABLE})
    named = aiter_tables({"AITER_CONFIG_GEMM_BF16": f"{tmp_path}/mine.csv:{tmp_path}/gone.csv", "AITER_LOG_MORE": "1"}, "")
    assert [(each.path.rpartition("/")[2], sum(each.machines.values())) for each in named] == [("mine.csv", 3), ("gone.csv", 0)]


@pytest.mark.parametrize(
    ("torch", "rocm"),
    [
        ("2.9.1+rocm7.2", {"ROCM_VERSION": "7.2", "HIP_VERSION": "702"}),
        ("2.9.1+rocm6.4.1.git7e1940d4", {"ROCM_VERSION": "6.4.1", "HIP_VERSION": "604"}),
        ("2.9.1a0+git1234", {"ROCM_VERSION": "7.1.0", "HIP_VERSION": "701"}),
    ],
)
def test_what_is_known_without_torch(torch: str, rocm: dict[str, str], tmp_path: Path) -> None:
    lay(tmp_path, {"opt/rocm/.info/version": "7.1.0-52\n"})
    assert known_validators(torch, "gfx1151", tmp_path) == {"PT_VERSION": "2.9.1", "GCN_ARCH_NAME": "gfx1151", **rocm}
    assert known_validators("", "", tmp_path / "nothing") == {}
