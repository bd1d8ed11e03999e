"""What a Python interpreter is and has: the version of it, and of packages that scripts import."""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct

from expctl.launcher.captured import Timeout, captured

ANSWERS_S = 60.0
# It runs in any Python 3, without the working directory on its path, as a script that lies elsewhere does.
LOOK = """
import sys
sys.path[:] = [folder for folder in sys.path if folder]
import importlib.metadata as metadata, importlib.util, json, platform
folders = {}
def version(name):
    try:
        spec = importlib.util.find_spec(name)
        if spec is None:
            return None
        folders[name] = next(iter(spec.submodule_search_locations or ()), "")
    except (ImportError, ValueError):
        return None
    distributions = getattr(metadata, "packages_distributions", dict)
    for found in (lambda: name, lambda: distributions()[name][0]):
        try:
            return metadata.version(found())
        except (metadata.PackageNotFoundError, LookupError):
            pass
    return "unknown"
print(json.dumps([platform.python_version(), {name: version(name) for name in sys.argv[1:]}, folders]))
"""
# What `pip freeze` prints, also where pip is not installed: a version, or the commit of a package that came from a repository.
LIST = """
import sys
sys.path[:] = [folder for folder in sys.path if folder]
import importlib.metadata as metadata, json, platform
found = {}
for each in metadata.distributions():
    name = (each.metadata or {}).get("Name")
    if name and name.lower() not in found:
        try:
            origin = json.loads(each.read_text("direct_url.json") or "{}")
        except (OSError, ValueError):
            origin = {}
        commit = origin.get("vcs_info", {}).get("commit_id")
        editable = origin.get("dir_info", {}).get("editable")
        found[name.lower()] = each.version + (f" @ {commit}" if commit else " (editable)" if editable else "")
print(json.dumps([platform.python_version(), dict(sorted(found.items()))]))
"""


class Interpreter(Struct, frozen=True, kw_only=True):
    """The `version` of a Python, e.g. 3.12.4, and those of the packages that were asked for; None for one that it lacks.
    `folders` are those of the packages that it has, "" for a module that is a file.
    """

    version: str
    packages: Mapping[str, str | None]
    folders: Mapping[str, str]


class NoInterpreter(Exception):
    """What was started is no working Python."""


def look_at(python: str, names: Sequence[str], environment: Mapping[str, str]) -> Interpreter:
    """Return what the interpreter `python` is, and which of the packages `names` (as they are imported) it has, when it is
    started with the variables `environment`. Asks once in the life of this process. Raises NoInterpreter.
    """
    return _look_at(python, tuple(names), tuple(sorted(environment.items())))


def installed_in(python: str, environment: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
    """Return the version of the interpreter `python`, and name -> version of every package that it sees when it is started with
    the variables `environment`. Raises NoInterpreter.
    """
    version, packages = _answer([python, "-c", LIST], environment)
    return version, packages


@lru_cache
def _look_at(python: str, names: tuple[str, ...], environment: tuple[tuple[str, str], ...]) -> Interpreter:
    version, packages, folders = _answer([python, "-c", LOOK, *names], dict(environment))
    return Interpreter(version=version, packages=packages, folders=folders)


def _answer(argv: Sequence[str], environment: Mapping[str, str]) -> Any:
    try:
        answer = captured(argv, timeout_s=ANSWERS_S, environment=environment)
    except (OSError, Timeout) as error:
        raise NoInterpreter(f"{argv[0]}: {getattr(error, 'strerror', None) or error}") from error
    try:
        return json.loads(answer.out.splitlines()[-1])
    except (ValueError, IndexError) as error:
        said = (answer.err or answer.out).strip().splitlines()[-1:] or [f"status {answer.status}"]
        raise NoInterpreter(f"{argv[0]}: {said[0][:200]}") from error
