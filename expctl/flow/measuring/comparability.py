"""Compute the comparability of a measurement on this machine."""

from expctl.domain.history.comparability import Comparability
from expctl.domain.protocol.model import Protocol, Target
from expctl.ports.context import Context, Tools


def comparability_here(context: Context, tools: Tools, protocol: Protocol, base: str, target: str) -> Comparability:
    """Return the conditions of measuring `base` now: its own protocol and harness, tools and machine of today."""
    facts = environment(context, tools, target, protocol.targets[target])
    return context.library.comparability(base, protocol, target, facts)


def environment(context: Context, tools: Tools, name: str, target: Target) -> dict[str, str]:
    """Return facts of the machine, and versions of the tools that build `target`."""
    return {**context.machine, **tool_versions(tools, name, target)}


def tool_versions(tools: Tools, name: str, target: Target) -> dict[str, str]:
    """Return tool -> version for `target`; empty if it can't be built here."""
    answer = tools.toolchains.availability(name, target)
    return dict(getattr(answer, "versions", {}))
