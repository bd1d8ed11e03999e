"""Build the argv, the environment and the shared folders of a child process."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from expctl.adapters.child.contained_process import MARK
from expctl.domain.protocol.model import Environment


def fill(argv: Sequence[str], words: Mapping[str, str]) -> list[str]:
    """Replace placeholders like `{python}` in an argv, also inside longer words; replacements are not searched again."""
    known = re.compile("|".join(map(re.escape, words)))
    return [known.sub(lambda found: words[found[0]], word) for word in argv]


def child_environment(environment: Environment, scratch: Path, mark: str) -> dict[str, str]:
    """Return the environment of a child: allow-listed variables, the protocol's settings, a HOME in `scratch`, and `mark`.

    Creates the folder HOME.
    """
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
    """Return the existing paths that the protocol lets every step write besides its scratch folder."""
    return tuple(path for name in environment.writable if (path := Path(name)).exists())
