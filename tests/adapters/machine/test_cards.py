"""Settings of cards, as drivers and their tools write them."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from expctl.adapters.machine.amd_cards import amd_cards
from expctl.adapters.machine.cards import cards_of, timed_on, vendors_here
from expctl.adapters.machine.nvidia_cards import nvidia_cards
from expctl.domain.environment.snapshot import Card, Vendor
from expctl.domain.protocol.model import Build, NumberKind, Requires, Target, Toolchain
from tests.fakes.programs import program

# In the form of nvidia-smi 580: an H200, a workstation card that says less, and one in MIG mode with an error.
NVIDIA = """0, GPU-dcb396cf-ee91-d9bc-85f7-e1f5b1c301fe, Enabled, Disabled, Enabled, Enabled, 0, 700.00, 700.00, 1980, 1980, \
Disabled, 9.0
1, GPU-11111111-ee91-d9bc-85f7-e1f5b1c301fe, Disabled, Enabled, [N/A], [N/A], [N/A], 200.00, 320.00, \
[Requested functionality has been deprecated], [Requested functionality has been deprecated], [N/A], 8.9
2, GPU-22222222-ee91-d9bc-85f7-e1f5b1c301fe, Enabled, Disabled, Disabled, Enabled, 3, [N/A], [N/A], 1410, 1980, Enabled, 9.0"""
H200 = Card(
    name="nvidia 0",
    vendor=Vendor.NVIDIA,
    arch="9.0",
    clock_mhz=1980.0,
    default_clock_mhz=1980.0,
    power_w=700.0,
    default_power_w=700.0,
    persistence=True,
    mig=False,
    ecc=True,
    ecc_pending=True,
    display=False,
)

# In the form of /sys/class/kfd: CPU and GPU of a Strix Halo, an MI300X; what is not read is left out.
CPU_NODE = "cpu_cores_count 16\nsimd_count 0\nsimd_per_cu 0\ngfx_target_version 0\ndrm_render_minor 0\n"
STRIX_NODE = "cpu_cores_count 0\nsimd_count 80\nsimd_per_cu 2\ngfx_target_version 110501\ndrm_render_minor 128\n"
MI300_NODE = "cpu_cores_count 0\nsimd_count 1216\nsimd_per_cu 4\ngfx_target_version 90402\ndrm_render_minor 129\n"
PROFILES = """PROFILE_INDEX(NAME) CLOCK_TYPE(NAME) FPS MinFreqType MinActiveFreqType MinActiveFreq BoosterFreqType
 0 BOOTUP_DEFAULT*:
                    0(       GFXCLK)       0       5       1       0       4     800 4587520
 1 3D_FULL_SCREEN :
                    0(       GFXCLK)       0       5       1       0       4     800 4587520
 5        COMPUTE :
"""
IN_ONE_LINE = (
    "                    0 BOOTUP_DEFAULT  1 3D_FULL_SCREEN  5 COMPUTE*        6 CUSTOM\nGfx_ActiveHystLimit 0  0  0\n"
)
NODES = "sys/class/kfd/kfd/topology/nodes"
CARD = "sys/class/drm/card1/device"
SYSFS = {
    f"{NODES}/0/properties": CPU_NODE,
    f"{NODES}/1/properties": STRIX_NODE,
    "sys/class/drm/card0/device/vendor": "0x10de\n",
    f"{CARD}/vendor": "0x1002\n",
    f"{CARD}/drm/renderD128/dev": "226:128\n",
    f"{CARD}/drm/card1/card1-HDMI-A-1/status": "connected\n",
    f"{CARD}/drm/card1/card1-HDMI-A-1/enabled": "enabled\n",
    f"{CARD}/power_dpm_force_performance_level": "auto\n",
    f"{CARD}/pp_power_profile_mode": PROFILES,
    f"{CARD}/hwmon/hwmon4/power1_cap": "85000000\n",
    f"{CARD}/hwmon/hwmon4/power1_cap_default": "120000000\n",
    f"{CARD}/ras/umc_err_count": "ue: 2\nce: 5\n",
    f"{CARD}/current_compute_partition": "SPX\n",
}
STRIX = Card(
    name="amdgpu card1",
    vendor=Vendor.AMD,
    arch="gfx1151",
    compute_units=40,
    level="auto",
    profile="BOOTUP_DEFAULT",
    profiles=("BOOTUP_DEFAULT", "3D_FULL_SCREEN", "COMPUTE"),
    partition="SPX",
    power_w=85.0,
    default_power_w=120.0,
    uncorrected=2,
    display=True,
)
# In the form of amd-smi of ROCm 7, and of ROCm 6.2, which prints a bare list and other keys.
STATIC = {
    "gpu_data": [
        {
            "gpu": 0,
            "asic": {"market_name": "AMD Instinct MI300X", "target_graphics_version": "gfx942"},
            "limit": {
                "ppt0": {"max_power_limit": {"value": 750, "unit": "W"}, "socket_power_limit": {"value": 600, "unit": "W"}}
            },
            "partition": {"accelerator_partition": "CPX", "memory_partition": "NPS1"},
        }
    ]
}
METRIC = {
    "gpu_data": [
        {
            "gpu": 0,
            "perf_level": "AMDSMI_DEV_PERF_LEVEL_LOW",
            "ecc": {"total_correctable_count": 3, "total_uncorrectable_count": 1, "cache_correctable_count": "N/A"},
        }
    ]
}
OLD_STATIC = [
    {
        "gpu": 0,
        "limit": {"max_power": {"value": 100}, "socket_power": {"value": 100}},
        "partition": {"compute_partition": "N/A"},
    }
]
OLD_METRIC = [{"gpu": 0, "perf_level": "AMDSMI_DEV_PERF_LEVEL_AUTO", "ecc": "N/A"}]
ROCM_SMI = {
    "card0": {"Performance Level": "auto", "Max Graphics Package Power (W)": "560.0"},
    "system": {"Driver version": "6.14.14"},
}


def lay(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_nvidia_smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "nvidia-smi", f"cat <<'E'\n{NVIDIA}\nE", monkeypatch)
    first, plain, sliced = nvidia_cards()
    assert first == H200
    assert plain == Card(
        name="nvidia 1", vendor=Vendor.NVIDIA, arch="8.9", power_w=200.0, default_power_w=320.0, persistence=False, display=True
    )
    assert (sliced.mig, sliced.ecc, sliced.ecc_pending, sliced.uncorrected, sliced.power_w) == (True, False, True, 3, None)
    assert [each.name for each in nvidia_cards("2")] == ["nvidia 2"]
    assert nvidia_cards("GPU-dcb396cf") == (H200,)


def test_an_older_nvidia_smi_knows_fewer_fields(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ", ".join(NVIDIA.splitlines()[0].split(", ")[:-2])
    program(
        tmp_path,
        "nvidia-smi",
        f"case $1 in *compute_cap*) echo 'not a valid field'; exit 2;; esac; echo '{words}'",
        monkeypatch,
    )
    (found,) = nvidia_cards()
    assert (found.mig, found.arch, found.persistence, found.power_w) == (None, "", True, 700.0)


@pytest.mark.parametrize("script", ["exit 9", "echo 'No devices were found'", "echo; echo 1,2", "echo '[N/A]'"])
def test_an_nvidia_smi_that_fails_or_babbles_shows_no_card(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path, "nvidia-smi", script, monkeypatch)
    assert nvidia_cards() == ()
    (tmp_path / "bin/nvidia-smi").unlink()
    assert nvidia_cards() == ()


def test_amd_in_sysfs(tmp_path: Path) -> None:
    assert amd_cards(lay(tmp_path, SYSFS)) == (STRIX,)
    assert amd_cards(tmp_path, "1") == ()
    lay(tmp_path, {f"{CARD}/pp_power_profile_mode": IN_ONE_LINE})
    (found,) = amd_cards(tmp_path)
    assert (found.profile, found.profiles) == ("COMPUTE", ("BOOTUP_DEFAULT", "3D_FULL_SCREEN", "COMPUTE", "CUSTOM"))


def test_a_card_that_sleeps_is_not_read(tmp_path: Path) -> None:
    lay(tmp_path, {**SYSFS, f"{CARD}/power/runtime_status": "suspended\n"})
    assert amd_cards(tmp_path) == (Card(name="amdgpu card1", vendor=Vendor.AMD, arch="gfx1151", compute_units=40),)


def test_a_card_that_says_nothing(tmp_path: Path) -> None:
    lay(tmp_path, {f"{CARD}/vendor": "0x1002"})
    assert amd_cards(tmp_path) == (Card(name="amdgpu card1", vendor=Vendor.AMD),)
    assert amd_cards(tmp_path / "nowhere") == ()


@pytest.mark.parametrize(
    ("static", "metric", "found"),
    [
        (STATIC, METRIC, {"level": "low", "partition": "CPX", "power_w": 600.0, "uncorrected": 1}),
        (OLD_STATIC, OLD_METRIC, {"level": "auto", "partition": "", "power_w": 100.0, "uncorrected": 0}),
        (STATIC, "garbage", {"level": "", "partition": "CPX", "power_w": 600.0, "uncorrected": 0}),
    ],
    ids=["ROCm 7", "ROCm 6.2", "no metrics"],
)
def test_amd_smi_where_sysfs_shows_no_card(
    static: object, metric: object, found: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay(tmp_path, {f"{NODES}/0/properties": CPU_NODE, f"{NODES}/1/properties": MI300_NODE})
    script = f"case $1 in static) echo '{json.dumps(static)}';; *) echo '{json.dumps(metric)}';; esac"
    program(tmp_path, "amd-smi", script, monkeypatch)
    (card,) = amd_cards(tmp_path)
    assert (card.name, card.arch, card.compute_units) == ("amdgpu 0", "gfx942", 304)
    assert {name: getattr(card, name) for name in found} == found


@pytest.mark.parametrize("broken", ["exit 1", "echo garbage", "echo '{\"gpu_data\": 3}'", "echo '[]'"])
def test_rocm_smi_where_amd_smi_says_nothing(broken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay(tmp_path, {f"{NODES}/1/properties": MI300_NODE})
    program(tmp_path, "amd-smi", broken, monkeypatch)
    program(tmp_path, "rocm-smi", f"echo '{json.dumps(ROCM_SMI)}'", monkeypatch)
    assert amd_cards(tmp_path) == (
        Card(name="amdgpu card0", vendor=Vendor.AMD, arch="gfx942", compute_units=304, level="auto", power_w=560.0),
    )
    (tmp_path / "bin/rocm-smi").unlink()
    assert [(each.arch, each.level) for each in amd_cards(tmp_path)] == [("gfx942", "")]


def target(toolchain: Toolchain, *devices: str, kind: NumberKind = NumberKind.WALL_TIME) -> Target:
    return Target(build=Build(toolchain=toolchain), requires=Requires(devices=devices), number_kind=kind)


@pytest.mark.parametrize(
    ("timed", "vendors"),
    [
        (target(Toolchain.HIPCC), {Vendor.AMD}),
        (target(Toolchain.NVCC, "/dev/nvidia0"), {Vendor.NVIDIA}),
        (target(Toolchain.SOURCE, "/dev/kfd"), {Vendor.AMD}),
        (target(Toolchain.SOURCE, kind=NumberKind.DEVICE_TIME), {Vendor.AMD, Vendor.NVIDIA}),
        (target(Toolchain.ZIG_CPU), set()),
    ],
)
def test_where_a_target_is_timed(timed: Target, vendors: set[Vendor]) -> None:
    assert timed_on(timed) == vendors


def test_which_makers_are_here(tmp_path: Path) -> None:
    assert vendors_here(tmp_path) == frozenset()
    lay(tmp_path, {"dev/kfd": "", **SYSFS})
    assert vendors_here(tmp_path) == {Vendor.AMD}
    assert cards_of(frozenset((Vendor.AMD,)), {}, tmp_path) == (STRIX,)
    assert cards_of(frozenset(), {}, tmp_path) == ()
