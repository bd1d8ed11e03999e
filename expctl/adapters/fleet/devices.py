"""Find the device that this machine offers to a fleet, and the versions that must agree with the head's."""

import hashlib
import platform
import uuid
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path

import expctl
from expctl.adapters.machine.card_tool import answer
from expctl.adapters.machine.own_cards import OwnCard, amd, visible
from expctl.domain.environment.snapshot import Vendor
from expctl.domain.errors import Refused
from expctl.domain.fleet.device import Device, Versions
from expctl.domain.text import one_line
from expctl.files import atomic_write


def device_here(
    folder: Path, gpu: str = "", machine: Path = Path("/"), *, variables: Mapping[str, str], host: str = ""
) -> tuple[Device, OwnCard | None, int]:
    """Return the device that this machine offers, its card (None: the CPU), and how many more GPUs it has. It is the GPU `gpu`,
    an index or an id, or the first that `variables` show, or without one the CPU. One without an id in its hardware gets one in
    the worker's folder `folder`, for the machine named `host` (default: this one). Raises Refused if there is no GPU `gpu`.
    """
    found = (*_nvidia(), *amd(machine))
    shown = visible(found, variables)
    if not shown and not gpu:
        return Device(uuid=f"cpu-{_own_id(folder, host)}", kind="cpu"), None, 0
    chosen = shown if not gpu else [card for number, card in enumerate(found) if gpu == str(number) or _is(card, gpu)]
    if len(chosen) != 1 and (gpu or not chosen):
        raise Refused(
            "this machine has no such GPU",
            code="fleet-no-such-gpu",
            expected="the index or the id of a GPU: "
            + (", ".join(f"{n} ({c.name})" for n, c in enumerate(found)) or "none here"),
            found=one_line(gpu, 60),
            where="--gpu",
            hint="expctl fleet join --gpu 0",
        )
    card = chosen[0]
    return Device(uuid=card.uuid or f"{card.kind}-{_own_id(folder, host)}", kind=card.kind), card, len(found) - 1


def _is(card: OwnCard, gpu: str) -> bool:
    return len(gpu) > len("GPU-") and card.uuid.upper().startswith(gpu.upper())


def _own_id(folder: Path, host: str) -> str:
    """Return the id that the machine `host` has here: on a shared disk, others may come under the same worker's name."""
    file = folder / f"device-{host or platform.node()}"
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


def _nvidia() -> Iterator[OwnCard]:
    lines = answer("nvidia-smi", "--query-gpu=uuid,compute_cap", "--format=csv,noheader").splitlines()
    cards = [line.split(", ") for line in lines if line.startswith("GPU-") and ", " in line]
    for index, (id_, capability) in enumerate(cards):
        kind = f"sm_{capability.replace('.', '')}"
        yield OwnCard(vendor=Vendor.NVIDIA, index=index, name=id_, uuid=id_, kind=kind)
