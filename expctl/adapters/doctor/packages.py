"""Checks of `expctl doctor` on the Python that steps run in: does it have what their scripts import?"""

import ast
import os
import shlex
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from expctl.adapters.child.arguments import shared_variables
from expctl.adapters.child.interpreter import python_of
from expctl.domain.checkup import Finding, ok, wrong
from expctl.domain.protocol.model import Environment, Protocol
from expctl.launcher.interpreter import NoInterpreter, look_at

PART = "packages"


def package_findings(protocol: Protocol, environment: Environment, root: Path) -> Iterator[Finding]:
    """Yield for each package that a step's script imports, and `{python}` lacks, what to install; where it is only seen through
    PYTHONPATH or a user's own packages, why steps don't see it. `environment` is the protocol's, with its interpreter.
    """
    python = python_of(environment)
    wanted = {name: script for script in sorted(_scripts(protocol, root)) for name in _imports(script, root)}
    try:
        found = look_at(python, sorted(wanted), shared_variables(environment))
    except NoInterpreter as error:
        yield wrong(PART, f"the Python of the steps does not work: {error}", "correct environment.python in protocol.yaml")
        return
    missing = [name for name, version in found.packages.items() if version is None]
    beyond = look_at(python, missing, os.environ).packages if missing else {}
    for name in missing:
        what = f"{wanted[name].relative_to(root)} imports {name}, which {python} lacks"
        if beyond.get(name) is not None:
            what += " in a step: it is seen through PYTHONPATH or the user's site-packages, which steps do not get"
        yield wrong(PART, what, f"{shlex.quote(python)} -m pip install {name}; or name another Python in environment.python")
    if not missing:
        yield ok(PART, f"Python {found.version} has what the steps import: {', '.join(sorted(wanted)) or 'nothing'}")


def _scripts(protocol: Protocol, root: Path) -> set[Path]:
    """Return the Python files of the repository that steps start with `{python}`."""
    steps = [step for each in protocol.targets.values() for step in (each.test, each.benchmark, each.profile) if step]
    words = [word for step in steps if "{python}" in step.argv for word in step.argv if word.endswith(".py")]
    return {path for word in words if (path := root / word).is_file()}


def _imports(script: Path, root: Path) -> Iterable[str]:
    """Return the packages that `script` imports at its top level, without Python's own and the repository's."""
    try:
        statements = ast.parse(script.read_bytes()).body
    except (SyntaxError, ValueError):
        return []
    dotted = [alias.name for each in statements if isinstance(each, ast.Import) for alias in each.names]
    dotted += [each.module for each in statements if isinstance(each, ast.ImportFrom) and each.module and not each.level]
    names = {name.partition(".")[0] for name in dotted} - sys.stdlib_module_names
    return sorted(name for name in names if not any(_is_local(folder, name) for folder in (script.parent, root)))


def _is_local(folder: Path, name: str) -> bool:
    return (folder / name).is_dir() or (folder / f"{name}.py").is_file()
