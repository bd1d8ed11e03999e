"""Build the argv, the environment and the shared folders of a child process."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from expctl.adapters.child.contained_process import MARK
from expctl.adapters.child.scratch import make_below
from expctl.domain.protocol.model import Environment

PYTHON_VARIABLES = ("PYTHONDONTWRITEBYTECODE", "PYTHONNOUSERSITE", "PYTHONUNBUFFERED")


def fill(argv: Sequence[str], words: Mapping[str, str]) -> list[str]:
    """Return `argv` with each key of `words` (e.g. `{python}`) replaced by its value, also inside longer arguments."""
    known = re.compile("|".join(map(re.escape, words)))
    return [known.sub(lambda found: words[found[0]], word) for word in argv]


def child_environment(environment: Environment, scratch: Path, mark: str) -> dict[str, str]:
    """Return the environment variables of a child process; create its HOME, a folder in `scratch`.

    They are: those of `shared_variables`, TMPDIR=`scratch`, and EXPCTL_RUN=`mark`, by which survivors of a run are recognised.
    """
    make_below(scratch, "home")
    own = {"HOME": str(scratch / "home"), "TMPDIR": str(scratch)}
    return {**shared_variables(environment), **own, **environment.set, MARK: mark}


def shared_variables(environment: Environment) -> dict[str, str]:
    """Return the variables that are the same for all children: PATH and a few others of this process, three for Python, and
    those that `environment` passes through or sets.
    """
    names = ("PATH", "LANG", "LD_LIBRARY_PATH", "VIRTUAL_ENV", *environment.pass_through)
    passed = {name: os.environ[name] for name in names if name in os.environ}
    return {**passed, **dict.fromkeys(PYTHON_VARIABLES, "1"), **environment.set}


def shared_folders(environment: Environment) -> tuple[Path, ...]:
    """Return those paths of `environment.writable` that exist. Every child may write there, besides its own scratch folder."""
    return tuple(path for name in environment.writable if (path := Path(name)).exists())
