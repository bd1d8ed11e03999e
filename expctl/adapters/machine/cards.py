"""Which GPUs of this machine may be measured, and the settings of their cards."""

from collections.abc import Mapping
from pathlib import Path

from expctl.adapters.machine.amd_cards import amd_cards
from expctl.adapters.machine.nvidia_cards import nvidia_cards
from expctl.domain.environment.snapshot import Card, Vendor
from expctl.domain.protocol.model import Target, Toolchain

DEVICES = {Vendor.AMD: "dev/kfd", Vendor.NVIDIA: "dev/nvidia0"}
TOOLCHAINS = {Toolchain.HIPCC: Vendor.AMD, Toolchain.NVCC: Vendor.NVIDIA}


def vendors_here(machine: Path = Path("/")) -> frozenset[Vendor]:
    """Return the makers whose GPUs the machine has whose files lie below `machine`."""
    return frozenset(vendor for vendor, device in DEVICES.items() if (machine / device).exists())


def timed_on(target: Target) -> frozenset[Vendor]:
    """Return the makers on whose GPUs `target` may be timed; empty for a target that is timed on the CPU."""
    if target.build.toolchain in TOOLCHAINS:
        return frozenset((TOOLCHAINS[target.build.toolchain],))
    named = {vendor for vendor, device in DEVICES.items() if f"/{device}" in target.requires.devices}
    return frozenset(named or (Vendor if target.uses_gpu else ()))


def cards_of(vendors: frozenset[Vendor], variables: Mapping[str, str], machine: Path = Path("/")) -> tuple[Card, ...]:
    """Return the cards of `vendors` that steps with `variables` see."""
    amd = amd_cards(machine, variables.get("HIP_VISIBLE_DEVICES", "")) if Vendor.AMD in vendors else ()
    nvidia = nvidia_cards(variables.get("CUDA_VISIBLE_DEVICES", "")) if Vendor.NVIDIA in vendors else ()
    return (*amd, *nvidia)
