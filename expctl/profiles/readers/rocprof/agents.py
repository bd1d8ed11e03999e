"""Which list of agents a process of a folder goes by: `agent 1` may be another GPU on another host."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from expctl.profiles.model.kernel_profile import Device
from expctl.profiles.raw.profile import RawProfile


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentList:
    """One agent_info.csv: GPUs by the keys that traces use."""

    file: Path
    agents: Mapping[str, Device]


def give_agents(parts: Sequence[RawProfile], lists: Sequence[AgentList], folder: Path) -> dict[str, Device]:
    """The GPUs that all lists agree on. Where they don't, parts with a list of their own get devices named after it."""
    told: dict[str, set[Device]] = {}
    for each in lists:
        for key, device in each.agents.items():
            told.setdefault(key, set()).add(device)
    if any(len(devices) > 1 for devices in told.values()):
        for part in parts:
            own = None if part.devices else _nearest(Path(part.file), lists)
            if own:
                part.belongs_to(_owner(Path(part.file), folder), own.agents)
    return {key: devices.pop() for key, devices in told.items() if len(devices) == 1}


def _nearest(file: Path, lists: Sequence[AgentList]) -> AgentList | None:
    """Of the same process (`11_agent_info.csv` to `11_kernel_trace.csv`), else the only one of the same folder."""
    beside = [each for each in lists if each.file.parent == file.parent]
    same = [each for each in beside if _process(each.file) == _process(file)]
    return same[0] if same else beside[0] if len(beside) == 1 else None


def _owner(file: Path, folder: Path) -> str:
    return str(file.relative_to(folder).with_name(_process(file)))


def _process(file: Path) -> str:
    return file.name.split("_", 1)[0]
