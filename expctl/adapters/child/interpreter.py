"""The Python that `{python}` names in protocol.yaml: the one that runs expctl, or the one of `environment.python`."""

import os
import shutil
import sys
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

import expctl
from expctl.domain.errors import Refused
from expctl.domain.protocol.model import Environment

MODULES = "modules"


Kind = TypeVar("Kind", bound=Environment)


def with_interpreter(environment: Kind, *, root: Path, state: Path, where: str = "protocol.yaml, environment.python") -> Kind:
    """Return `environment` with the absolute path of its interpreter; a relative one is looked up below `root`, a name on PATH.

    Where it isn't the one that runs expctl, scripts find `expctl.harness` by PYTHONPATH, in a folder below `state` that holds
    expctl alone. Raises Refused if there is no such interpreter; `where` names the file and the key.
    """
    wanted = environment.python
    if not wanted:
        return environment
    found = _absolute(wanted, root)
    if found is None:
        raise Refused(
            f"the Python of {where.partition(',')[0]} is not on this machine",
            code="interpreter-missing",
            expected="an interpreter: an absolute path, one below the repository, or a name on PATH",
            found=f"no program {wanted}",
            where=where,
            hint="make it (python3 -m venv .venv), or correct or drop the key: without it, {python} is expctl's own",
        )
    if found == sys.executable:
        return replace(environment, python=found)
    given = environment.set.get("PYTHONPATH")
    path = os.pathsep.join([str(_modules(state)), *([given] if given else [])])
    return replace(environment, python=found, set={**environment.set, "PYTHONPATH": path})


def python_of(environment: Environment) -> str:
    """Return what `{python}` becomes in the commands of an environment that `with_interpreter` returned."""
    return environment.python or sys.executable


def _absolute(wanted: str, root: Path) -> str | None:
    if "/" not in wanted:
        return shutil.which(wanted)
    path = str(root / Path(wanted).expanduser())  # links stay: a virtual environment is known by the path of its link
    return path if os.access(path, os.X_OK) and os.path.isfile(path) else None


def _modules(state: Path) -> Path:
    folder, package = state / MODULES, Path(expctl.__file__).parent
    link = folder / package.name
    if not link.exists() or not link.samefile(package):
        folder.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(package)
    return folder
