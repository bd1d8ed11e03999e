"""What a target requires of a machine besides its toolchain: programs and devices."""

import os
import shutil

from expctl.domain.protocol.model import Protocol, Requires
from expctl.domain.run.step_result import Unavailable


def unmet(requires: Requires) -> Unavailable | None:
    """Return the first requirement that this machine doesn't meet; None if it meets all."""
    for program in requires.executables:
        if shutil.which(program) is None:
            return Unavailable(reason=f"no {program} on PATH", hint=requires.hint or f"install {program}")
    for device in requires.devices:
        if not os.path.exists(device):
            return Unavailable(reason=f"no device {device}", hint=requires.hint or "run on a machine that has the card")
    return None


def first_target(protocol: Protocol) -> str:
    """Return the first target of `decides` whose requirements this machine meets, else the last: what `run` would measure on if
    the toolchains are there.
    """
    met = (name for name in protocol.decides if unmet(protocol.targets[name].requires) is None)
    return next(met, protocol.decides[-1])
