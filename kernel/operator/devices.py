"""Which target of the kernel runs on a torch device."""

from __future__ import annotations

import torch

from kernel.operator.arguments import require
from kernel.runtime.library import MACHINES


def target_of(device: torch.device) -> str:
    """Return the target of the kernel that runs on `device`. Raises ValueError."""
    if device.type == "cpu":
        return "cpu"
    require(device.type == "cuda", "a", "device cpu or cuda", device)
    properties = torch.cuda.get_device_properties(device)
    name = properties.gcnArchName.split(":")[0] if torch.version.hip else f"sm_{properties.major}{properties.minor}"
    require(name in MACHINES, "a", f"a device that the kernel is built for ({', '.join(MACHINES)})", f"{device}, {name}")
    return str(name)
