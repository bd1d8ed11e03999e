"""Which targets of a run are tested, profiled, limited or absent, fixed before its first event."""

from collections.abc import Mapping

from msgspec import Struct, field

from expctl.domain.protocol.model import FreeSimplify, Protocol, ResourceLimits
from expctl.domain.run.events import Begun


class TargetRoles(Struct, frozen=True, kw_only=True):
    """The targets on which a run tests and profiles, and the limits on their builds, by target.

    The target whose timing decides the verdict comes first. `absent` are the targets that this machine can't build.
    `free_simplify` is copied from the protocol's KeepRule.
    """

    tests: tuple[str, ...]
    profiles: tuple[str, ...] = ()
    limits: Mapping[str, ResourceLimits] = field(default_factory=dict)
    absent: tuple[str, ...] = ()
    free_simplify: FreeSimplify = FreeSimplify.BUILT

    @staticmethod
    def of(protocol: Protocol, begun: Begun) -> "TargetRoles":
        """Return the roles of the targets in the run that `begun` started."""
        part = {name: protocol.targets[name] for name in (begun.target, *begun.guards)}
        return TargetRoles(
            tests=tuple(name for name, target in part.items() if target.test),
            profiles=tuple(name for name, target in part.items() if target.profile),
            limits={name: target.limits for name, target in part.items() if target.limits},
            absent=tuple(name for name in protocol.targets if name not in part),
            free_simplify=protocol.keep.free_simplify,
        )
