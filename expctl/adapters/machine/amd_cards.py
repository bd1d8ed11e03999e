"""Reads the settings of AMD's cards: from sysfs, or where that shows no card (a container), with amd-smi or rocm-smi."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from expctl.adapters.machine.card_tool import at, json_answer, number
from expctl.adapters.machine.linux_facts import text, word
from expctl.adapters.sensors.gpu_reading import visible
from expctl.domain.environment.snapshot import Card, Vendor

MAKER = "0x1002"
# ` 5 COMPUTE*:` in a line of its own, or all in one line; * marks the active one.
PROFILE = re.compile(r"(?<!\S)\d+\s+((?:3D_)?[A-Z][A-Z_0-9]+)\s*(\*?)")
MICROWATTS = 1e6


class Node(Struct, frozen=True, kw_only=True):
    """A GPU as the compute driver lists it: architecture, compute units, number of its render device."""

    arch: str
    compute_units: int
    render: str


def amd_cards(root: Path = Path("/"), names: str = "") -> tuple[Card, ...]:
    """Return the AMD cards of the machine whose files lie below `root`, without those that `names`, the value of
    HIP_VISIBLE_DEVICES, hides.
    """
    nodes = tuple(_nodes(root))
    found = sorted(root.glob("sys/class/drm/card*/device/vendor"), key=lambda path: (len(str(path)), path))
    devices = [file.parent for file in found if "-" not in file.parts[-3] and word(file) == MAKER]
    cards = tuple(_of_sysfs(device, nodes) for device in devices) or _of_tools(nodes)
    return tuple(card for index, card in enumerate(cards) if visible(names, index))


def _nodes(root: Path) -> Iterator[Node]:
    for file in sorted(root.glob("sys/class/kfd/kfd/topology/nodes/*/properties"), key=lambda path: (len(str(path)), path)):
        said = dict(line.split(" ", 1) for line in text(file).splitlines() if " " in line)
        version, simds = int(said.get("gfx_target_version", 0)), int(said.get("simd_count", 0))
        if version:
            arch = f"gfx{version // 10000}{version // 100 % 100:x}{version % 100:x}"
            units = simds // max(1, int(said.get("simd_per_cu", 0)) or 1)
            yield Node(arch=arch, compute_units=units, render=said.get("drm_render_minor", ""))


def _of_sysfs(device: Path, nodes: tuple[Node, ...]) -> Card:
    node = next((each for each in nodes if (device / f"drm/renderD{each.render}").exists()), None)
    if word(device / "power/runtime_status") == "suspended":  # to read more would wake it
        return _card(device.parent.name, node)
    sensors = next(iter(sorted(device.glob("hwmon/hwmon*"))), device)
    profiles = PROFILE.findall(text(device / "pp_power_profile_mode"))
    errors = re.search(r"^ue: (\d+)", text(device / "ras/umc_err_count"), re.MULTILINE)
    return _card(
        device.parent.name,
        node,
        level=word(device / "power_dpm_force_performance_level"),
        profile=next((name for name, active in profiles if active), ""),
        profiles=tuple(name for name, _ in profiles),
        partition=word(device / "current_compute_partition"),
        power_w=_watts(sensors / "power1_cap"),
        default_power_w=_watts(sensors / "power1_cap_default"),
        uncorrected=int(errors[1]) if errors else 0,
        display=_display(device),
    )


def _card(name: str, node: Node | None, **known: Any) -> Card:
    units = node.compute_units if node else 0
    return Card(name=f"amdgpu {name}", vendor=Vendor.AMD, arch=node.arch if node else "", compute_units=units, **known)


def _watts(file: Path) -> float | None:
    found = number(word(file))
    return found / MICROWATTS if found else None


def _display(device: Path) -> bool | None:
    """Is a screen plugged in that the card draws? None for a card without a connector."""
    connectors = [file.parent for file in device.glob("drm/card*/card*-*/status")]
    shown = [each for each in connectors if word(each / "status") == "connected" and word(each / "enabled") == "enabled"]
    return bool(shown) if connectors else None


def _of_tools(nodes: tuple[Node, ...]) -> tuple[Card, ...]:
    if not nodes:
        return ()
    return tuple(_of_amd_smi(nodes)) or tuple(_of_rocm_smi(nodes)) or tuple(_card(each.render, each) for each in nodes)


def _of_amd_smi(nodes: tuple[Node, ...]) -> Iterator[Card]:
    metrics = {at(card, "gpu"): card for card in _cards(json_answer("amd-smi", "metric", "--perf-level", "--ecc", "--json"))}
    for card in _cards(json_answer("amd-smi", "static", "--json")):
        index = at(card, "gpu")
        level = str(at(metrics.get(index), "perf_level") or "").removeprefix("AMDSMI_DEV_PERF_LEVEL_").lower()
        kind = at(card, "partition", "accelerator_partition") or at(card, "partition", "compute_partition")
        limit = at(card, "limit", "ppt0", "socket_power_limit", "value") or at(card, "limit", "socket_power", "value")
        yield _card(
            str(index),
            nodes[index] if isinstance(index, int) and index < len(nodes) else None,
            level=level,
            partition=str(kind or ""),
            power_w=number(limit),
            uncorrected=int(number(at(metrics.get(index), "ecc", "total_uncorrectable_count")) or 0),
        )


def _cards(said: Any) -> list[Mapping[str, Any]]:
    """Return the cards of amd-smi's JSON: a list, or since ROCm 7 an object with `gpu_data`."""
    cards = at(said, "gpu_data") if isinstance(said, Mapping) else said
    return [card for card in cards if isinstance(card, Mapping)] if isinstance(cards, list) else []


def _of_rocm_smi(nodes: tuple[Node, ...]) -> Iterator[Card]:
    said = json_answer("rocm-smi", "--showperflevel", "--showmaxpower", "--json")
    names = [name for name in said if re.fullmatch(r"card\d+", name)] if isinstance(said, Mapping) else []
    for node, name in zip(nodes, names, strict=False):
        level, power = at(said, name, "Performance Level"), at(said, name, "Max Graphics Package Power (W)")
        yield _card(name, node, level=str(level or ""), power_w=number(power))
