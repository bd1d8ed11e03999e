"""The ground on which a measurement of one commit would stand here and now."""

from expctl.domain.experiment.record import BenchmarkIdentity
from expctl.domain.history.benchmark_identity import benchmark_identity_of
from expctl.domain.history.comparability import Comparability, comparability_of
from expctl.domain.protocol.model import Protocol, Target
from expctl.ports.context import Context, Tools


def comparability_here(context: Context, equipment: Tools, protocol: Protocol, base: str, target: str) -> Comparability:
    """Protocol and harness as they stand in `base`, tools and machine as they are now."""
    return comparability_of(
        protocol=context.workspace.protocol_identity(base, ("protocol.yaml", *protocol.harness)),
        yardstick=yardstick(context, protocol, base, target),
        environment=environment(context, equipment, target, protocol.targets[target]),
    )


def yardstick(context: Context, protocol: Protocol, base: str, target: str) -> BenchmarkIdentity:
    """What judges a run of `target` on `base`."""
    return benchmark_identity_of(protocol, target, harness=context.workspace.protocol_identity(base, protocol.harness))


def environment(context: Context, equipment: Tools, name: str, target: Target) -> dict[str, str]:
    """Facts of the machine, and versions of the tools that build `target`."""
    return {**context.machine, **tool_versions(equipment, name, target)}


def tool_versions(equipment: Tools, name: str, target: Target) -> dict[str, str]:
    """Versions of what builds `target` here; none where it can't be built."""
    answer = equipment.toolchains.availability(name, target)
    return dict(getattr(answer, "versions", {}))
