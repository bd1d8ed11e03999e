"""Which targets of a run are tested, profiled or limited, fixed before its first event."""

from collections.abc import Mapping

from msgspec import Struct, field

from expctl.domain.protocol.model import Protocol, ResourceLimits
from expctl.domain.run.events import Begun


class TargetRoles(Struct, frozen=True, kw_only=True):
    """The targets of one run that have a test, a profile step or resource limits; the one that decides comes first."""

    tests: tuple[str, ...]
    profiles: tuple[str, ...] = ()
    limits: Mapping[str, ResourceLimits] = field(default_factory=dict)

    @staticmethod
    def of(protocol: Protocol, begun: Begun) -> "TargetRoles":
        """Return the roles of the targets in the run that `begun` started."""
        part = {name: protocol.targets[name] for name in (begun.target, *begun.guards)}
        return TargetRoles(
            tests=tuple(name for name, target in part.items() if target.test),
            profiles=tuple(name for name, target in part.items() if target.profile),
            limits={name: target.limits for name, target in part.items() if target.limits},
        )
