"""The ground on which a measurement of one commit would stand here and now."""

from expctl.domain.experiment.record import Yardstick
from expctl.domain.history.benchmark_identity import yardstick_of
from expctl.domain.history.comparability import Ground, ground_of
from expctl.domain.protocol.model import Protocol, Target
from expctl.ports.context import Equipment, World


def ground_here(world: World, equipment: Equipment, protocol: Protocol, base: str, target: str) -> Ground:
    """Protocol and harness as they stand in `base`, tools and machine as they are now."""
    return ground_of(
        protocol=world.workspace.protocol_identity(base, ("protocol.yaml", *protocol.harness)),
        yardstick=yardstick(world, protocol, base, target),
        environment=environment(world, equipment, target, protocol.targets[target]),
    )


def yardstick(world: World, protocol: Protocol, base: str, target: str) -> Yardstick:
    """What judges a run of `target` on `base`."""
    return yardstick_of(protocol, target, harness=world.workspace.protocol_identity(base, protocol.harness))


def environment(world: World, equipment: Equipment, name: str, target: Target) -> dict[str, str]:
    """Facts of the machine, and versions of the tools that build `target`."""
    return {**world.machine, **tool_versions(equipment, name, target)}


def tool_versions(equipment: Equipment, name: str, target: Target) -> dict[str, str]:
    """Versions of what builds `target` here; none where it can't be built."""
    answer = equipment.toolchains.availability(name, target)
    return dict(getattr(answer, "versions", {}))
