"""What a measurement of one commit would be comparable to, here and now."""

from expctl.domain.history.comparability import Comparability
from expctl.domain.protocol.model import Protocol, Target
from expctl.ports.context import Context, Tools


def comparability_here(context: Context, equipment: Tools, protocol: Protocol, base: str, target: str) -> Comparability:
    """Protocol and harness as they stand in `base`, tools and machine as they are now."""
    facts = environment(context, equipment, target, protocol.targets[target])
    return context.library.comparability(base, protocol, target, facts)


def environment(context: Context, equipment: Tools, name: str, target: Target) -> dict[str, str]:
    """Facts of the machine, and versions of the tools that build `target`."""
    return {**context.machine, **tool_versions(equipment, name, target)}


def tool_versions(equipment: Tools, name: str, target: Target) -> dict[str, str]:
    """Versions of what builds `target` here; none where it can't be built."""
    answer = equipment.toolchains.availability(name, target)
    return dict(getattr(answer, "versions", {}))
