"""The argv and the environment that a child is given."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from expctl.adapters.child.contained_process import MARK
from expctl.domain.protocol.model import Environment


def fill(argv: Sequence[str], words: Mapping[str, str]) -> list[str]:
    """Replace the known words of an argv, also inside a longer word; what was filled in is not looked at again."""
    known = re.compile("|".join(map(re.escape, words)))
    return [known.sub(lambda found: words[found[0]], word) for word in argv]


def child_environment(environment: Environment, scratch: Path, mark: str) -> dict[str, str]:
    """The whole environment of a child: an allow-list, the protocol's settings, a scratch HOME, our mark."""
    names = ("PATH", "LANG", "LD_LIBRARY_PATH", "VIRTUAL_ENV", *environment.pass_through)
    passed = {name: os.environ[name] for name in names if name in os.environ}
    home = scratch / "home"
    home.mkdir(parents=True, exist_ok=True)
    fixed = {
        "HOME": str(home),
        "TMPDIR": str(scratch),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
        "PYTHONUNBUFFERED": "1",
    }
    return {**passed, **fixed, **environment.set, MARK: mark}


def shared_folders(environment: Environment) -> tuple[Path, ...]:
    """What the protocol lets every step write besides its scratch, as far as it is there."""
    return tuple(path for name in environment.writable if (path := Path(name)).exists())
