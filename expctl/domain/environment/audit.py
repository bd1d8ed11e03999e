"""The audit of the environment: every item that seeds of this project ask for, applied to a snapshot of the machine."""

from collections import Counter
from collections.abc import Iterator

from expctl.domain.checkup import Finding, Health, note, ok
from expctl.domain.environment import (
    card_settings,
    gpu_variables,
    linux_settings,
    product_shapes,
    torch_settings,
    triton_occupancy,
    tuned_files,
)
from expctl.domain.environment.item import PART, Item
from expctl.domain.environment.snapshot import Snapshot

ITEMS: tuple[Item, ...] = (
    *gpu_variables.ITEMS,
    *linux_settings.ITEMS,
    *card_settings.ITEMS,
    *torch_settings.ITEMS,
    *tuned_files.ITEMS,
    *product_shapes.ITEMS,
    *triton_occupancy.ITEMS,
)


def audit(snapshot: Snapshot) -> tuple[Finding, ...]:
    """Return what every item that applies finds, right or not, and a note of those that don't apply."""
    found = tuple(finding for item in ITEMS for finding in item.findings(snapshot))
    return (*found, *_left_out(snapshot))


def advice(snapshot: Snapshot) -> Iterator[Finding]:
    """Yield only what is to be mended; where nothing is, one finding that says so."""
    found = [each for item in ITEMS for each in item.findings(snapshot)]
    to_mend = [each for each in found if each.health is not Health.OK]
    yield from to_mend or [ok(PART, f"{len(found)} settings looked at, none to be mended (expctl doctor env lists them)")]


def _left_out(snapshot: Snapshot) -> Iterator[Finding]:
    places = Counter(item.where.partition(" (")[0] for item in ITEMS if not item.applies(snapshot))
    if places:
        texts = ", ".join(f"{count} about {where}" for where, count in places.items())
        yield note(PART, f"{places.total()} of {len(ITEMS)} items don't apply here: {texts}")
