"""Which GPU is a run's own (`gate: cards: own`): the only one that its steps see. No tool is started if the kernel tells."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from expctl.adapters.machine.card_tool import answer
from expctl.adapters.machine.cards import timed_on
from expctl.domain.environment.snapshot import Vendor
from expctl.domain.errors import Refused
from expctl.domain.protocol.model import Target
from expctl.domain.text import one_line

CUDA, ROCR, HIP = "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"
VARIABLES = {Vendor.NVIDIA: (CUDA,), Vendor.AMD: (ROCR, HIP)}  # each counts within what the one before it leaves
UUID = re.compile(r"GPU-[\w-]+", re.ASCII)


class OwnCard(Struct, frozen=True, kw_only=True):
    """A GPU: its number among those of its maker, `name`, which all runs on this machine have for it, its id in hardware ("" if
    it has none), its class (`sm_90`; "" if that wasn't asked for), and the variables that show a process this card alone.
    """

    vendor: Vendor
    index: int
    name: str
    uuid: str = ""
    kind: str = ""

    @property
    def variables(self) -> dict[str, str]:
        """The variables under which a process sees this card alone."""
        names = VARIABLES[self.vendor]
        return {names[0]: self.uuid or str(self.index), **dict.fromkeys(names[1:], "0")}


class OwnCards:
    """The cards that steps see whose environment has `variables`, of the machine whose files lie below `machine`."""

    def __init__(self, variables: Mapping[str, str], machine: Path = Path("/")) -> None:
        self._variables, self._machine = variables, machine
        self._seen: dict[Vendor, tuple[OwnCard, ...]] = {}

    def seen(self, vendor: Vendor) -> tuple[OwnCard, ...]:
        """Return the cards of a maker that the steps see. One answer for the life of this object."""
        if vendor not in self._seen:
            found = nvidia(self._machine) if vendor is Vendor.NVIDIA else amd(self._machine)
            self._seen[vendor] = visible(found, self._variables)
        return self._seen[vendor]

    def only(self, vendor: Vendor) -> OwnCard | None:
        """Return the card of a maker if the steps see exactly one; else None."""
        found = self.seen(vendor)
        return found[0] if len(found) == 1 else None

    def shown(self) -> dict[str, str]:
        """Return the variables that hold the steps to the one card that they see of each maker."""
        cards = (self.only(vendor) for vendor in Vendor)
        return {name: text for card in cards if card for name, text in card.variables.items()}

    def indices(self) -> dict[str, str]:
        """Return the one card of each maker, by its index among all, under the name of the variable that lists such."""
        cards = (self.only(vendor) for vendor in Vendor)
        return {VARIABLES[card.vendor][-1]: str(card.index) for card in cards if card}

    def of(self, target: Target | None) -> OwnCard | None:
        """Return the card that `target` is timed on; None if that is the CPU. Raises Refused if it isn't exactly one."""
        if target is None or not target.uses_gpu:
            return None
        vendors = timed_on(target)
        found = [card for vendor in sorted(vendors) for card in self.seen(vendor)]
        if len(found) == 1:
            return found[0]
        makers = {card.vendor for card in found} or vendors
        names = [name for vendor, variables in VARIABLES.items() if vendor in makers for name in variables]
        given = ", ".join(f"{name}={one_line(self._variables[name], 60)}" for name in names if name in self._variables)
        listed = ", ".join(f"{card.index} ({card.name})" for card in found) or "none"
        raise Refused(
            "with gate.cards: own a run is timed on one card, and it doesn't see exactly one",
            code="not-one-card",
            expected="one visible GPU, named by its index (as the maker's tool counts) or its id",
            found=f"{listed}{f'; {given}' if given else ''}",
            where=", ".join(names),
            hint=f"{names[0]}=0 expctl ..., with the number of the card; or commit gate: {{cards: all}}",
        )


def visible(cards: tuple[OwnCard, ...], variables: Mapping[str, str]) -> tuple[OwnCard, ...]:
    """Return those of `cards`, all the cards of a machine, that `variables` show, in the order of these."""
    found: list[OwnCard] = []
    for vendor, names in VARIABLES.items():
        left = tuple(card for card in cards if card.vendor is vendor)
        for name in names:
            left = _left(left, variables.get(name))
        found += left
    return tuple(found)


def _left(cards: tuple[OwnCard, ...], names: str | None) -> tuple[OwnCard, ...]:
    """Return those of `cards` that the value of a variable lists: all without one (None), none if it lists anything else."""
    if names is None:
        return cards
    words = [word.strip().upper() for word in names.split(",") if word.strip()]
    if not all(word.isdigit() or UUID.fullmatch(word) for word in words):
        return ()
    place = {str(number): card for number, card in enumerate(cards)}
    chosen = [[place[word]] if word in place else _of_uuid(cards, word) for word in words]
    return tuple(dict.fromkeys(card for each in chosen for card in each))


def _of_uuid(cards: tuple[OwnCard, ...], word: str) -> list[OwnCard]:
    return [card for card in cards if card.uuid and card.uuid.upper().startswith(word)]


def nvidia(machine: Path = Path("/")) -> tuple[OwnCard, ...]:
    """Return the NVIDIA cards in nvidia-smi's order, that of their addresses on the bus."""
    files = sorted(machine.glob("proc/driver/nvidia/gpus/*/information"))
    ids = [_word(file, r"^GPU UUID:\s*(GPU-[0-9a-fA-F-]+)\s*$") for file in files]
    if not ids or not all(ids):
        said = answer("nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader")
        ids = [line.strip() for line in said.splitlines() if UUID.fullmatch(line.strip())]
    return tuple(OwnCard(vendor=Vendor.NVIDIA, index=number, name=id_, uuid=id_) for number, id_ in enumerate(ids))


def amd(machine: Path = Path("/")) -> tuple[OwnCard, ...]:
    """Return the AMD cards in the order of the kernel driver. One without an id is named by its number there."""
    return tuple(_amd(machine))


def _amd(machine: Path) -> Iterator[OwnCard]:
    number = 0
    files = machine.glob("sys/class/kfd/kfd/topology/nodes/*/properties")
    for file in sorted(files, key=lambda path: (len(path.parent.name), path)):
        target = int(_word(file, r"^gfx_target_version (\d+)$") or 0)
        if target:
            own = int(_word(file, r"^unique_id (\d+)$") or 0)  # 0: none, as with the GPU that is part of a processor
            uuid, kind = f"GPU-{own:016x}" if own else "", f"gfx{target // 10000}{target // 100 % 100:x}{target % 100:x}"
            name = uuid or f"amd-node-{file.parent.name}"
            yield OwnCard(vendor=Vendor.AMD, index=number, name=name, uuid=uuid, kind=kind)
            number += 1


def _word(file: Path, pattern: str) -> str:
    try:
        found = re.search(pattern, file.read_text(errors="replace"), re.MULTILINE)
    except OSError:  # a card that this container may not use
        return ""
    return found[1] if found else ""
