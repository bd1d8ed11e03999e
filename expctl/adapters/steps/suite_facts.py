"""Read what decides the times of a suite besides the kernels: interpreter, packages, variables, commits, machine."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from expctl.adapters.child.arguments import shared_variables
from expctl.adapters.child.interpreter import python_of
from expctl.adapters.child.redaction import redacted
from expctl.adapters.git.reader import GitReader, locate
from expctl.domain.errors import Refused
from expctl.domain.protocol.model import Environment
from expctl.launcher.interpreter import NoInterpreter, installed_in

ROCM_VERSION = ".info/version"


def environment_facts(
    environment: Environment, checkouts: Mapping[str, Path], *, rocm: Path = Path("/opt/rocm")
) -> dict[str, object]:
    """Return the facts of an environment whose interpreter is found: name -> text, or a mapping of such. `checkouts` maps names
    to folders of repositories. Raises Refused if the interpreter doesn't work or a folder is no repository with a commit.
    """
    variables = shared_variables(environment)
    python = python_of(environment)
    try:
        version, packages = installed_in(python, variables)
    except NoInterpreter as error:
        raise Refused(
            "the Python of this environment does not work",
            code="suite-interpreter-broken",
            expected="an interpreter that lists its packages",
            found=str(error),
            hint="make it again (python3 -m venv), or correct `python` of this environment",
        ) from error
    image = hashlib.sha256(json.dumps(packages, sort_keys=True).encode()).hexdigest()[:12]
    facts: dict[str, object] = {"python": python, "python_version": version, "packages_image": image}
    if (file := rocm / ROCM_VERSION).is_file():
        facts["rocm_version"] = file.read_text(errors="replace").strip()[:40]
    for name, folder in checkouts.items():
        facts |= {f"{name}_{key}": text for key, text in _commit(folder).items()}
    names = (*environment.pass_through, *environment.set)
    given = {name: _masked(name, variables[name]) for name in names if name in variables}
    return {**facts, "variables": given, "packages": packages}


def _commit(folder: Path) -> dict[str, str]:
    try:
        git = GitReader(locate(folder))
        commit, branch, edits = git.head(), git.branch(), git.edits()
    except (Refused, OSError) as error:
        found = error.found if isinstance(error, Refused) else str(error.strerror)
        raise Refused(
            "a checkout of this environment is no git repository with a commit",
            code="suite-checkout-missing",
            expected="a folder of a git repository",
            found=found,
            where=str(folder),
            hint="correct `checkouts` of this environment",
        ) from error
    return {"commit": commit, "branch": branch or "(detached)", "edited": f"yes ({edits})" if edits else "no"}


def _masked(name: str, value: str) -> str:
    return redacted(f"{name}={value}").removeprefix(f"{name}=")
