"""Cards: from the files and tools of their makers to what blocks and what taints."""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from expctl.adapters.sensors.amd_smi import AmdSmi, readings
from expctl.adapters.sensors.amd_sysfs import AmdSysfs
from expctl.adapters.sensors.clock_history import LAUNCHES_LEAST
from expctl.adapters.sensors.gpu_reading import GpuReading, visible
from expctl.adapters.sensors.gpus import Gpus
from expctl.adapters.sensors.interface import Launch
from expctl.adapters.sensors.nvidia_smi import NvidiaSmi
from expctl.adapters.sensors.vendor_tool import VendorTool
from expctl.domain.protocol.model import Gate

# ------------------------------------------------------------------ AMD, by sysfs


def card(root: Path, name: str = "card0", vendor: str = "0x1002", **files: str | bytes) -> Path:
    """A card of the driver's: amdgpu of Linux 6.14, as it shows itself."""
    device = root / "class/drm" / name / "device"
    given: dict[str, str | bytes] = {
        "vendor": vendor, "gpu_busy_percent": "0", "power/runtime_status": "active",
        "hwmon/hwmon3/temp1_input": "45000", "hwmon/hwmon3/freq1_input": "600000000",
    }  # fmt: skip
    for path, text in {**given, **files}.items():
        file = device / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else f"{text}\n".encode())
    return device


def metrics(revision: tuple[int, int], size: int, at: int, kind: str, value: int) -> bytes:
    table = bytearray(size)
    struct.pack_into("<HBB", table, 0, size, *revision)
    struct.pack_into(kind, table, at, value)
    return bytes(table)


def test_a_card_is_read_from_sysfs(tmp_path: Path) -> None:
    card(tmp_path, **{"gpu_busy_percent": "97", "hwmon/hwmon3/temp1_crit": "100000"})
    card(tmp_path, "card1", vendor="0x10de")
    (tmp_path / "class/drm/card0-DP-1").mkdir()
    source = AmdSysfs(tmp_path, names="")
    assert source.why_absent() == ""
    assert source.read() == (GpuReading(name="amdgpu card0", busy_percent=97, temperature_c=45, critical_c=100, clock_mhz=600),)


@pytest.mark.parametrize(
    ("files", "watts"),
    [
        ({"power1_average": "12043000", "power1_cap": "85000000"}, (12.043, 85)),
        ({"power1_input": "54012000"}, (54.012, None)),  # an APU
        ({"power1_input": "N/A", "power1_cap": ""}, (None, None)),
    ],
)
def test_power_and_its_limit(tmp_path: Path, files: dict[str, str], watts: tuple[float | None, float | None]) -> None:
    card(tmp_path, **{f"hwmon/hwmon3/{name}": text for name, text in files.items()})
    (seen,) = AmdSysfs(tmp_path, names="").read()
    assert (seen.power_w, seen.power_cap_w) == watts


@pytest.mark.parametrize(("cap", "said"), [(85.0, ", 12 W of 85"), (None, ", 12 W")])
def test_power_is_said(cap: float | None, said: str) -> None:
    sensor = Gpus("g", FakeSource((replace(COOL, power_w=12.0, power_cap_w=cap),)), Gate())
    sensor.blocking()
    assert sensor.says() == f"gpu: busy 0 %, 50 degrees, 500 MHz{said}"


def test_a_card_that_sleeps_is_not_woken(tmp_path: Path) -> None:
    card(tmp_path, **{"power/runtime_status": "suspended"})
    assert AmdSysfs(tmp_path, names="").read() == ()


def test_cards_that_the_run_may_not_use_are_not_looked_at(tmp_path: Path) -> None:
    for name in ("card0", "card1"):
        card(tmp_path, name)
    assert [each.name for each in AmdSysfs(tmp_path, names="1").read()] == ["amdgpu card1"]


THROTTLING = {
    "heat, discrete card": (metrics((1, 3), 120, 112, "<Q", 1 << 36), ("heat",), {}),
    "power, discrete card": (metrics((1, 3), 120, 112, "<Q", 1), (), {}),
    "not supported": (metrics((1, 3), 120, 112, "<Q", (1 << 64) - 1), (), {}),
    "heat, older APU": (metrics((2, 3), 160, 120, "<Q", 1 << 33), ("heat",), {}),
    "an APU that counts": (
        metrics((3, 0), 264, 248, "<I", 17), (), {"prochot": 0, "core heat": 0, "gfx heat": 17, "soc heat": 0},
    ),
    "another revision": (metrics((9, 9), 264, 248, "<I", 17), (), {}),
    "a torn table": (metrics((3, 0), 264, 248, "<I", 17)[:200], (), {}),
    "nothing": (b"", (), {}),
}  # fmt: skip


@pytest.mark.parametrize("name", THROTTLING)
def test_throttling_by_the_table_of_metrics(tmp_path: Path, name: str) -> None:
    table, flags, counts = THROTTLING[name]
    card(tmp_path, gpu_metrics=table)
    (seen,) = AmdSysfs(tmp_path, names="").read()
    assert (seen.throttles, seen.throttle_counts) == (flags, counts)


def test_where_the_table_has_its_reasons() -> None:
    """The order and the widths of the kernel's structures, laid out by the rules of C."""
    v1_3 = "<HBB 6H 3H H Q Q 7H 7H I 3H H 2I 4H Q 3H H"
    v2_2 = "<HBB 2H 8H 2H 2H Q 4H 8H 6H 6H 8H 2H I H 3H"
    v3_0 = "<HBB 2H 16H H H H 8H 16H 4H 2x Q I H 2x I I I I 16H H 2H 8H 16H 2H 2x"
    assert struct.calcsize(v1_3) == 112
    assert struct.calcsize(v2_2) == 120
    assert struct.calcsize(v3_0) == 228  # prochot, spl, fppt, sppt, then the three of heat


def test_without_a_card_sysfs_is_absent(tmp_path: Path) -> None:
    assert AmdSysfs(tmp_path).why_absent() == "no AMD GPU in sysfs"
    (card(tmp_path) / "gpu_busy_percent").unlink()
    assert "doesn't say how busy" in AmdSysfs(tmp_path).why_absent()


# ------------------------------------------------------------------ tools


def tool(folder: Path, name: str, script: str, monkeypatch: pytest.MonkeyPatch, timeout_s: float = 5.0) -> VendorTool:
    """A tool of this name on PATH that does what the shell script says."""
    program = folder / "bin" / name
    program.parent.mkdir(exist_ok=True)
    program.write_text(f"#!/bin/sh\n{script}")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    return VendorTool(name, folder / "scratch", mark="m", timeout_s=timeout_s)


AMD_SMI = """{"gpu_data": [{"gpu": 0, "usage": {"gfx_activity": {"value": 47, "unit": "%"}, "mm_activity": "N/A"},
 "temperature": {"edge": {"value": 44, "unit": "C"}, "hotspot": {"value": 51, "unit": "C"}},
 "clock": {"gfx_0": {"clk": {"value": 2400, "unit": "MHz"}}}}, {"gpu": 1, "usage": "N/A"}]}"""


def test_amd_smi_is_asked_where_sysfs_says_too_little(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = tool(tmp_path, "amd-smi", f"echo '{AMD_SMI}'", monkeypatch)
    source = AmdSmi(made, AmdSysfs(tmp_path / "sys"))
    assert source.why_absent() == ""
    assert source.read() == (
        GpuReading(name="amd 0", busy_percent=47, temperature_c=51, clock_mhz=2400),
        GpuReading(name="amd 1"),
    )
    card(tmp_path / "sys")
    assert AmdSmi(made, AmdSysfs(tmp_path / "sys")).why_absent() == "not needed: sysfs says how busy the GPU is"


@pytest.mark.parametrize("answer", ["", "{", "[1]", '{"gpu_data": 1}', "null"])
def test_what_is_no_answer_of_amd_smi(answer: str) -> None:
    assert readings(answer) is None


def test_a_bare_list_of_older_versions() -> None:
    assert readings('[{"gpu": 3, "usage": {"gfx_activity": 7}}]') == (GpuReading(name="amd 3", busy_percent=7),)


# nvidia-smi of driver 580 on an H200; the second line is a card that says less.
NVIDIA = """0, GPU-dcb396cf-ee91-d9bc-85f7-e1f5b1c301fe, 100, 61, 1980, 0x0000000000000004
1, GPU-00000000-ee91-d9bc-85f7-e1f5b1c301fe, [N/A], 40, 375, 0x0000000000000048"""


def test_nvidia_smi_is_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = NvidiaSmi(tool(tmp_path, "nvidia-smi", f"echo '{NVIDIA}'", monkeypatch), names="")
    assert source.why_absent() == ""
    assert source.read() == (
        GpuReading(name="nvidia 0", busy_percent=100, temperature_c=61, clock_mhz=1980),
        GpuReading(name="nvidia 1", temperature_c=40, clock_mhz=375, throttles=("hardware slowdown", "heat (hardware)")),
    )


def test_older_drivers_call_the_reasons_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = f"case $1 in *clocks_event*) echo 'not a valid field'; exit 2;; *) echo '{NVIDIA}';; esac"
    assert NvidiaSmi(tool(tmp_path, "nvidia-smi", script, monkeypatch), names="0").read() is not None


def test_a_tool_that_hangs_is_ended_and_counts_as_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = tool(tmp_path, "nvidia-smi", "sleep 60", monkeypatch, timeout_s=0.2)
    assert made.ask("x") is None
    source = NvidiaSmi(tool(tmp_path, "nvidia-smi", "exit 9", monkeypatch), names="")
    assert source.why_absent() == "nvidia-smi gives no answer"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert source.why_absent() == "no nvidia-smi on PATH"


def test_while_the_machine_is_held_one_is_left_running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = NVIDIA.replace("1980", "1000"), NVIDIA
    script = f"echo x >> {tmp_path}/calls; echo '{first}'; case $* in *-lms*) echo '{second}'; exec sleep 60;; esac"
    source = NvidiaSmi(tool(tmp_path, "nvidia-smi", script, monkeypatch), names="0")
    with source.session():
        clocks = set()
        while 1980 not in clocks:
            clocks.add(next(iter(source.read() or (GpuReading(name=""),))).clock_mhz)
    assert (tmp_path / "calls").read_text() == "x\n" * 2
    assert clocks <= {1000, 1980, None}


@pytest.mark.parametrize(
    ("names", "seen"), [("", True), ("0", False), ("1,0", True), ("GPU-dcb3", True), ("GPU-ffff", False), ("MIG-1", True)]
)
def test_cards_by_the_environment(names: str, seen: bool) -> None:
    assert visible(names, 1, "GPU-dcb396cf") is seen


# ------------------------------------------------------------------ what it means

COOL = GpuReading(name="gpu", busy_percent=0, temperature_c=50, critical_c=100, clock_mhz=500)
AT_WORK = replace(COOL, busy_percent=100, clock_mhz=2000)


@dataclass
class FakeSource:
    """Cards as the test wants them."""

    now: tuple[GpuReading, ...] | None = (COOL,)
    missing: str = ""
    sessions: list[str] = field(default_factory=list)

    def why_absent(self) -> str:
        return self.missing

    @contextmanager
    def session(self) -> Iterator[None]:
        self.sessions.append("in")
        yield
        self.sessions.append("out")

    def read(self) -> tuple[GpuReading, ...] | None:
        return self.now


BLOCKING = {
    "idle": (COOL, []),
    "busy": (replace(COOL, busy_percent=10), ["gpu is busy"]),
    "nearly busy": (replace(COOL, busy_percent=9), []),
    "says nothing": (GpuReading(name="gpu"), []),
    "near its limit": (replace(COOL, temperature_c=97), ["gpu is hot"]),
    "beyond ours": (replace(COOL, temperature_c=90), ["gpu is hot"]),
    "throttled": (replace(COOL, throttles=("heat",)), ["gpu is throttled by heat"]),
}


@pytest.mark.parametrize("name", BLOCKING)
def test_what_a_card_must_not_be_before_a_launch(name: str) -> None:
    reading, expected = BLOCKING[name]
    rule = Gate(hot_c=90.0 if name == "beyond ours" else 0.0)
    assert [each.what for each in Gpus("g", FakeSource((reading,)), rule).blocking()] == expected


def launch(sensor: Gpus, source: FakeSource, *looks: GpuReading, side: str = "candidate") -> list[str]:
    sensor.start(Launch(side=side))
    found = []
    for each in looks:
        source.now = (each,)
        found += [seen.what for seen in sensor.look([])]
    return found + [seen.what for seen in sensor.stop()]


def test_during_a_launch_the_card_is_ours_and_busy() -> None:
    source = FakeSource()
    sensor = Gpus("g", source, Gate(slow_clock_percent=5))
    with sensor.session():
        assert launch(sensor, source, AT_WORK, AT_WORK) == []
        assert launch(sensor, source, replace(AT_WORK, throttles=("heat",))) == ["gpu is throttled by heat"]
        source.now = (replace(COOL, throttle_counts={"prochot": 4}),)
        same = replace(AT_WORK, throttle_counts={"prochot": 4})
        assert launch(sensor, source, same, replace(same, throttle_counts={"prochot": 5})) == ["gpu is throttled by prochot"]
    assert source.sessions == ["in", "out"]


def test_a_launch_below_the_sessions_clock_is_seen_by_side() -> None:
    source = FakeSource()
    sensor = Gpus("g", source, Gate(slow_clock_percent=5))
    slow = replace(AT_WORK, clock_mhz=1850)
    with sensor.session():
        for _ in range(LAUNCHES_LEAST - 1):
            assert launch(sensor, source, COOL, COOL, AT_WORK) == []
        assert launch(sensor, source, slow) == [], "too little is known of what is usual"
        for _ in range(LAUNCHES_LEAST):
            assert launch(sensor, source, COOL, COOL, AT_WORK) == []
        assert launch(sensor, source, COOL, COOL, slow) == ["gpu runs below its clock"]
        assert launch(sensor, source, replace(AT_WORK, clock_mhz=1950)) == []
        assert launch(sensor, source, slow, side="baseline") == [], "the sides may differ: that is a finding"
    with sensor.session():
        assert launch(sensor, source, slow) == [], "another session, another median"


def test_a_card_that_stops_answering_taints() -> None:
    source = FakeSource()
    sensor = Gpus("g", source, Gate())
    with sensor.session():
        sensor.start(Launch(side="both"))
        source.now = None
        assert [each.what for each in sensor.look([])] == ["g stopped answering"]


def test_clock_and_temperature_are_read_at_each_look_since_the_start() -> None:
    source = FakeSource()
    sensor = Gpus("g", source, Gate())
    with sensor.session():
        launch(sensor, source, COOL)
        launch(sensor, source, AT_WORK, replace(AT_WORK, temperature_c=61), replace(AT_WORK, clock_mhz=None))
        found = sensor.readings()
    assert [(each.device, each.clock_mhz, each.temperature_c, each.busy_percent) for each in found] == [
        ("gpu", 2000, 50, 100),
        ("gpu", 2000, 61, 100),
    ]
    assert found[0].at_s <= found[1].at_s


def test_an_absent_source_is_not_asked_during_launches() -> None:
    sensor = Gpus("g", FakeSource(None, missing="no card"), Gate())
    with sensor.session():
        sensor.start(Launch(side="both"))
        assert sensor.look([]) == ()
    assert sensor.why_absent() == "no card"
