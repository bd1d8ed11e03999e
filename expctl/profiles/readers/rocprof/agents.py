"""Assign lists of GPUs (rocprofv3: agents) to the traces of a folder, where `agent 1` differs between hosts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from expctl.profiles.model.kernel_profile import Device
from expctl.profiles.raw.profile import RawProfile


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentList:
    """The contents of one agent_info.csv of rocprofv3: GPUs by the names that traces use for them."""

    file: Path
    agents: Mapping[str, Device]


def assign_agents(parts: Sequence[RawProfile], lists: Sequence[AgentList], folder: Path) -> dict[str, Device]:
    """Return the GPUs, by name, that all agent lists of a folder describe alike.

    Where lists disagree, each of `parts` without GPUs gets those of the list beside its file, and its GPU names are prefixed by
    host and process.
    """
    seen: dict[str, set[Device]] = {}
    for each in lists:
        for key, device in each.agents.items():
            seen.setdefault(key, set()).add(device)
    if any(len(devices) > 1 for devices in seen.values()):
        for part in parts:
            own = None if part.devices else _nearest(Path(part.file), lists)
            if own:
                part.prefix_devices(_owner(Path(part.file), folder), own.agents)
    return {key: devices.pop() for key, devices in seen.items() if len(devices) == 1}


def _nearest(file: Path, lists: Sequence[AgentList]) -> AgentList | None:
    """Return the list of the process in `file`'s name (11 in `11_kernel_trace.csv`), else the only one beside it, else None."""
    beside = [each for each in lists if each.file.parent == file.parent]
    same = [each for each in beside if _process(each.file) == _process(file)]
    return same[0] if same else beside[0] if len(beside) == 1 else None


def _owner(file: Path, folder: Path) -> str:
    return str(file.relative_to(folder).with_name(_process(file)))


def _process(file: Path) -> str:
    return file.name.split("_", 1)[0]
