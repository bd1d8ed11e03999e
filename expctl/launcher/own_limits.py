"""Watch the resource limits of this very process, which a launch may change where the kernel has no filter of system calls."""

import contextlib
import resource
from collections.abc import Sequence

OTHER_NAME = "RLIMIT_OFILE"  # of RLIMIT_NOFILE
NAMES = {name: getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_") and name != OTHER_NAME}

_fixed: dict[str, tuple[int, int]] = {}


def fix_limits() -> None:
    """Remember the present limits as those that this process shall keep."""
    _fixed.clear()
    _fixed.update({name: resource.getrlimit(number) for name, number in NAMES.items()})


def changed_limits() -> tuple[str, ...]:
    """Return the names of the limits that aren't as `fix_limits` found them, e.g. RLIMIT_FSIZE, and set them back. A hard limit
    that was lowered stays so, but for root; it is named each time.
    """
    changed = tuple(name for name, limit in _fixed.items() if resource.getrlimit(NAMES[name]) != limit)
    for name in changed:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(NAMES[name], _fixed[name])
    return changed


def meddling(changed: Sequence[str]) -> str:
    """Return the sentence on a step in which the limits `changed` of this process were changed."""
    return f"something that this step started changed limits of expctl itself: {', '.join(changed)}"
