"""For which architectures the targets of a protocol judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from expctl.domain.protocol.model import Protocol, Target


def architecture_of(name: str, target: Target) -> str:
    """What a target's machine code is for; a target that names no architecture is called like its own."""
    return target.build.arch or name


def architectures(protocol: Protocol, names: tuple[str, ...]) -> frozenset[str]:
    """What the targets `names` judge, the hardware that they stand for included."""
    chosen = {name: protocol.targets[name] for name in names}
    home = {each.stands_for for each in chosen.values() if each.stands_for}
    return frozenset({*home, *(architecture_of(name, each) for name, each in chosen.items())})
