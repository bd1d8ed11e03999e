"""Targets that share one build: it doesn't tell which of them a change is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from expctl.domain.protocol.model import Protocol


def named_to_decide(protocol: Protocol) -> tuple[str, ...]:
    """Return those targets of `decides` that are built as an earlier one is. That one decides, wherever both are available,
    unless `expctl run --target` names the other.
    """
    builds = [protocol.targets[name].build for name in protocol.decides]
    return tuple(name for at, name in enumerate(protocol.decides) if builds[at] in builds[:at])
