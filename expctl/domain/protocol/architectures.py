"""The hardware architectures of the targets in protocol.yaml."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from expctl.domain.protocol.model import Protocol, Target


def architecture_of(name: str, target: Target) -> str:
    """Return the architecture of a target's machine code: its build's `arch`, or the target's `name` if that is empty."""
    return target.build.arch or name


def architectures(protocol: Protocol, names: tuple[str, ...]) -> frozenset[str]:
    """Return the architectures of the targets `names`; for one that stands in for a hardware target, that target's name too."""
    chosen = {name: protocol.targets[name] for name in names}
    home = {each.stands_for for each in chosen.values() if each.stands_for}
    return frozenset({*home, *(architecture_of(name, each) for name, each in chosen.items())})
