"""Find out on which GPU each kernel ran: by the file, a separate list of GPUs, `--arch`, or a Tensile kernel's name."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from expctl.domain.text import one_line
from expctl.profiles.model.kernel_profile import Device, GridUnit
from expctl.profiles.raw.profile import RawProfile

_TENSILE_ISA = re.compile(r"_ISA(\d{3,4}[a-f]?)_")


def by_numbers(name: str) -> list[str | int]:
    """Return a key that sorts `device 2` before `device 10`."""
    return [int(part) if part.isdecimal() else part for part in re.split(r"([0-9]+)", name)]


def known_devices(parts: Sequence[RawProfile], agents: Mapping[str, Device], arch: str) -> tuple[dict[str, Device], list[str]]:
    """Return the GPUs, by the names that launches in `parts` use for them, and notes for the user. Facts about a GPU are from
    `parts`, else from `agents`, which maps a name to a GPU. A non-empty `arch` replaces their architecture.
    """
    keys = dict.fromkeys(raw.device for part in parts for raw in part.launches.values())
    listed: dict[str, Device] = {**agents}
    for part in parts:
        listed |= part.devices
    found = {key: listed.get(key, Device(name=key or "the GPU")) for key in keys}
    notes = []
    if arch:
        found = {key: replace(device, arch=arch) for key, device in found.items()}
    elif found and not any(device.arch for device in found.values()):
        guessed = _from_names(raw.kernel for part in parts for raw in part.launches.values())
        if guessed:
            found = {key: replace(device, arch=guessed) for key, device in found.items()}
            notes.append(f"GPU: {guessed}, by the name of a Tensile kernel; --arch overrules it")
        else:
            notes.append(_unnamed(parts, found.values()))
    return found, notes


def _unnamed(parts: Sequence[RawProfile], devices: Iterable[Device]) -> str:
    if product := next((each.product for each in devices if each.product), ""):
        return f"GPU: {one_line(product, 60)} isn't known here, and so aren't its occupancy and its limits"
    if parts[0].grid_unit is GridUnit.WORKGROUPS:
        return "GPU: not named in the file; --arch sm_90 (for example) gives occupancy and limits"
    return "GPU: not named in the file; --arch gfx1151 (for example) corrects registers and gives occupancy and limits"


def _from_names(names: Iterable[str]) -> str:
    """Return the architecture that names of Tensile kernels contain (gfx1151 for `_ISA1151_`); "" for none or several."""
    seen = {match[1] for name in names if (match := _TENSILE_ISA.search(name))}
    return f"gfx{seen.pop()}" if len(seen) == 1 else ""
