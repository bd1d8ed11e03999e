"""The roles of targets in the steps of a run, fixed by protocol and machine before the first event."""

from collections.abc import Mapping

from msgspec import Struct, field

from expctl.domain.protocol.model import Protocol, ResourceLimits
from expctl.domain.run.events import Begun


class TargetRoles(Struct, frozen=True, kw_only=True):
    """The targets of one run, the deciding one first, that have a test, a profile step or resource limits."""

    tests: tuple[str, ...]
    profiles: tuple[str, ...] = ()
    limits: Mapping[str, ResourceLimits] = field(default_factory=dict)

    @staticmethod
    def of(protocol: Protocol, begun: Begun) -> "TargetRoles":
        """Return the roles in the run that `begun` opened."""
        part = {name: protocol.targets[name] for name in (begun.target, *begun.guards)}
        return TargetRoles(
            tests=tuple(name for name, target in part.items() if target.test),
            profiles=tuple(name for name, target in part.items() if target.profile),
            limits={name: target.limits for name, target in part.items() if target.limits},
        )
