"""Collect the conditions that two measurements must share to be comparable: harness, protocol, tools, machine."""

from expctl.domain.history.comparability import Comparability
from expctl.domain.protocol.model import Protocol, Target
from expctl.ports.context import Context, Tools


def comparability_here(context: Context, tools: Tools, protocol: Protocol, base: str, target: str) -> Comparability:
    """Return the conditions of measuring commit `base` now: that commit's protocol and harness, today's tools and machine."""
    facts = environment(context, tools, target, protocol.targets[target])
    return context.library.comparability(base, protocol, target, facts)


def environment(context: Context, tools: Tools, name: str, target: Target) -> dict[str, str]:
    """Return fact -> text for the machine (CPU, GPU, ...), for the settings of cards and Linux, for the variables that steps
    get from the user's shell, and for the versions of the tools that build the target `name`.
    """
    return {**context.machine, **tools.settings(target), **tool_versions(tools, name, target)}


def tool_versions(tools: Tools, name: str, target: Target) -> dict[str, str]:
    """Return tool -> version for the tools that build the target `name`; empty if it can't be built on this machine."""
    answer = tools.toolchains.availability(name, target)
    return dict(getattr(answer, "versions", {}))
