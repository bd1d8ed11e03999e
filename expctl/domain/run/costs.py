"""What a run would take besides its rounds, as far as that is known. Pure."""

from collections.abc import Callable

from expctl.domain.protocol.model import Protocol
from expctl.domain.run.events import Begun
from expctl.domain.run.target_roles import TargetRoles
from expctl.domain.verdict.outlook import Costs


def costs_of(protocol: Protocol, begun: Begun, profile_s: Callable[[str], float]) -> Costs:
    """Return the seconds that a confirmation and a KEEP would take besides their rounds. `profile_s` says how long the profile
    step of a target took the last time.
    """
    benchmark = protocol.targets[begun.target].benchmark
    burn_in = benchmark.burn_in if benchmark is not None else None
    return Costs(
        confirm_s=protocol.gate.quiet_s + (burn_in.most_s if burn_in else 0.0),
        keep_s=sum(profile_s(target) for target in TargetRoles.of(protocol, begun).profiles),
    )
