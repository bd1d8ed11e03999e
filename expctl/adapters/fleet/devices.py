"""Find the device that this machine offers to a fleet, and the versions that must agree with the head's."""

import hashlib
import platform
import uuid
from importlib.metadata import version
from pathlib import Path

import expctl
from expctl.adapters.machine.card_tool import answer
from expctl.domain.fleet.device import Device, Versions
from expctl.files import atomic_write

KFD = Path("/sys/class/kfd/kfd/topology/nodes")


def device_here(folder: Path) -> tuple[Device, int]:
    """Return the device of this machine, and how many more it has. A machine measures one thing at a time (docs/GATE.md), so it
    offers its first GPU, or else its CPU. One without an id in its hardware gets one in the worker's folder `folder`.
    """
    found = [*_nvidia(), *_amd()] or [Device(uuid="", kind="cpu")]
    first = found[0]
    return first if first.uuid else Device(uuid=f"{first.kind}-{_own_id(folder)}", kind=first.kind), len(found) - 1


def _own_id(folder: Path) -> str:
    file = folder / "device"
    if not file.is_file():
        atomic_write.replace(file, uuid.uuid4().hex[:12].encode())
    return file.read_text().strip()


def versions_here(engine: str) -> Versions:
    """Return the versions of this interpreter, of the engine, named `engine` on the package index, and of expctl: its number,
    and a hash of its source, which differs between two states of a clone.
    """
    root, source = Path(expctl.__file__ or "").parent, hashlib.sha256()
    for file in sorted(root.rglob("*.py")):
        source.update(f"{file.relative_to(root)}\0".encode() + file.read_bytes())
    return Versions(
        python=".".join(platform.python_version_tuple()[:2]),
        engine=version(engine),
        expctl=f"{version('expctl')}+{source.hexdigest()[:8]}",
    )


def _nvidia() -> list[Device]:
    lines = answer("nvidia-smi", "--query-gpu=uuid,compute_cap", "--format=csv,noheader").splitlines()
    cards = [line.split(", ") for line in lines if line.startswith("GPU-") and ", " in line]
    return [Device(uuid=uuid_, kind=f"sm_{capability.replace('.', '')}") for uuid_, capability in cards]


def _amd() -> list[Device]:
    found = []
    for file in sorted(KFD.glob("*/properties")):
        facts = dict(line.split(" ", 1) for line in file.read_text(errors="replace").splitlines() if " " in line)
        target = int(facts.get("gfx_target_version", "0"))
        if target:
            major, minor, step = target // 10000, target // 100 % 100, target % 100
            own = int(facts.get("unique_id", "0"))  # 0: none, as with the GPU that is part of a processor
            found.append(Device(uuid=f"GPU-{own:x}" if own else "", kind=f"gfx{major}{minor:x}{step:x}"))
    return found
