"""Find out which version of a tool is installed, or how to install it."""

import importlib.util
import os
import re
import sys
from pathlib import Path

from expctl.domain.run.step_result import Available, Unavailable

VERSION_WAIT_S = 10


def packages(*names: str, extra: str) -> Available | Unavailable:
    """Return the versions of the Python packages `names`; Unavailable if one is missing. The latter has the advice to install
    expctl with its optional dependencies `extra`.
    """
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    if missing:
        return Unavailable(reason=f"no {' and no '.join(missing)} for this Python", hint=f"pip install 'expctl[{extra}]'")
    versions = {name: _installed(DISTRIBUTIONS.get(name, name)) for name in names}
    nameless = next((DISTRIBUTIONS.get(name, name) for name, version in versions.items() if not version), "")
    if nameless:  # files that were copied, not installed
        return Unavailable(reason=f"{nameless} has no version for this Python", hint=f"pip install 'expctl[{extra}]'")
    return Available(versions=versions)


def _installed(distribution: str) -> str:
    """Return the version of an installed distribution, "" if there is none. A folder named `ziglang-0.16.0.dist-info` tells it
    without importlib.metadata, whose import takes longer than the command that asks.
    """
    told = {each.name for path in sys.path for each in Path(path).glob(f"{distribution}-*.dist-info")}
    if len(told) == 1:
        return told.pop().removeprefix(f"{distribution}-").removesuffix(".dist-info")
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""


def program(name: str, *, hint: str) -> Available | Unavailable:
    """Return the version of the program `name` on PATH, or Unavailable with the advice `hint`. The version is the last line
    with a version number, or else a digit, that `name --version` prints; of hipcc the lines of HIP and of its clang, which
    folders follow.
    """
    from expctl.launcher.captured import Timeout, captured

    path = _on_path(name)
    if path is None:
        return Unavailable(reason=f"no {name} on PATH", hint=hint)
    try:
        output = captured([path, "--version"], timeout_s=VERSION_WAIT_S)
    except (OSError, Timeout) as error:
        return Unavailable(reason=f"{name} --version failed: {type(error).__name__}", hint=hint)
    lines = [line.strip() for line in output.out.splitlines() if any(c.isdigit() for c in line)]
    lines = [line for line in lines if VERSION.search(line)] or lines  # not gcc's line of copyright
    told = ", ".join(line for line in lines if line.startswith(OF_HIPCC)) or (lines[-1] if lines else "unknown")
    return Available(versions={name: told[:120]})


def version_of(tool: str) -> str:
    """Return the version of the compiler `tool`, a Python package or a program on PATH; "" if it isn't installed."""
    answer = packages(tool, extra="cpu") if tool in WHEELS else program(tool, hint="")
    return answer.versions[tool] if isinstance(answer, Available) else ""


def installed(tool: str) -> str:
    """Return what is another text once another version of the compiler `tool` is installed: its file by path, size, time and
    number, which takes no process, and of a script that only starts a program by its path, that program's; of another script,
    which may call anything, what `version_of` returns. "" if it isn't installed.
    """
    if tool in WHEELS:
        return version_of(tool)
    found = _on_path(tool)
    return (_binary(found) or version_of(tool)) if found is not None else ""


def _on_path(name: str) -> str | None:
    """Return what shutil.which does, whose import takes as long as all that `installed` looks at."""
    found = (os.path.join(folder, name) for folder in os.get_exec_path())
    return next((file for file in found if os.path.isfile(file) and os.access(file, os.X_OK)), None)


def _binary(path: str, *, may_hand_on: bool = True) -> str:
    """Return the files by which the program at `path` is known; "" for one that starts others which it doesn't name."""
    file = os.path.realpath(path)
    if os.path.basename(file) in LAUNCHERS:
        return ""
    try:
        with open(file, "rb") as opened:
            start, facts = opened.read(SCRIPT_BYTES), os.fstat(opened.fileno())
    except OSError:
        return ""
    own = f"{file} {facts.st_size} {facts.st_mtime_ns} {facts.st_ino}"
    if start.startswith(ELF):
        return own
    handed = HANDS_ON.fullmatch(start) if may_hand_on else None
    program = _binary(handed[1].decode(), may_hand_on=False) if handed else ""
    return f"{own}, {program}" if program else ""


LAUNCHERS = ("ccache", "sccache", "distcc", "icecc")
"""Programs that start the compiler by whose name a link calls them."""
ELF = b"\x7fELF"
SCRIPT_BYTES = 512
HANDS_ON = re.compile(rb'#! ?/bin/(?:ba|da)?sh\n+exec (/[\w./+-]+) "\$@"\n*')
OF_HIPCC = ("HIP version", "AMD clang version")
VERSION = re.compile(r"\d\.\d")
WHEELS = ("ziglang",)
DISTRIBUTIONS = {"elftools": "pyelftools"}
