"""Find the GPUs of rocprofv3's traces in lists of GPUs (agent_info.csv), where `agent 1` may be another GPU on each host."""

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
    """Return the GPUs by name, as far as all `lists` of a folder give a name to the same GPU.

    If two lists give one name to different GPUs, each of `parts` without GPUs gets those of the list that belongs to its file,
    and its GPU names are prefixed by folder and process id.
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
    """Return the list in `file`'s folder that belongs to it, or None. It is the one whose name begins with the same process id
    (11 in `11_kernel_trace.csv`), else the only one there.
    """
    beside = [each for each in lists if each.file.parent == file.parent]
    same = [each for each in beside if _process(each.file) == _process(file)]
    return same[0] if same else beside[0] if len(beside) == 1 else None


def _owner(file: Path, folder: Path) -> str:
    return str(file.relative_to(folder).with_name(_process(file)))


def _process(file: Path) -> str:
    return file.name.split("_", 1)[0]
