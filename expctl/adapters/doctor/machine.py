"""Checks of `expctl doctor` on the machine: Python, git, disk, and what Linux offers to confine children."""

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from expctl.domain.checkup import Finding, note, ok, wrong
from expctl.files.permission import permission_mend
from expctl.launcher.capabilities import detect_capabilities
from expctl.launcher.captured import Timeout, captured

PYTHON_LEAST = (3, 11)
GIT_FSYNCS = (2, 36)  # the first version that knows core.fsync
DISK_LEAST = 256 << 20
GIT_ANSWERS_S = 10.0


def machine_findings(state: Path) -> Iterator[Finding]:
    """Yield findings on Python, git, the disk that holds expctl's folder `state`, and the confinement of children."""
    version = sys.version_info[:3]
    text = f"Python {'.'.join(map(str, version))}"
    yield ok("python", text) if version >= PYTHON_LEAST else wrong("python", text, "install Python 3.11 or newer")
    yield _git()
    yield _disk(state)
    yield from _confinement()


def _git() -> Finding:
    try:
        said = captured(["git", "--version"], timeout_s=GIT_ANSWERS_S).out.strip()
    except Timeout as error:
        said = str(error)
    found = re.search(r"(\d+)\.(\d+)", said)
    if found is None:
        return wrong("git", f"git --version says {said[:60]!r}", "install git 2.36 or newer")
    if (int(found[1]), int(found[2])) < GIT_FSYNCS:
        return wrong("git", f"{said} does not flush its refs: a power cut may lose a record", "install git 2.36 or newer")
    return ok("git", said)


def _disk(state: Path) -> Finding:
    folder = state if state.exists() else state.parent
    facts = os.statvfs(folder)
    free = facts.f_bavail * facts.f_frsize
    if not os.access(folder, os.W_OK):
        return wrong("disk", f"{folder} is not writable", permission_mend(folder, "w"))
    text = f"{free / 2**30:.1f} GiB free"
    return ok("disk", text) if free >= DISK_LEAST else wrong("disk", text, "free space (`df` shows where it went)")


def _confinement() -> Iterator[Finding]:
    here = detect_capabilities()
    if not here.gaps():
        yield ok("confinement", here.words())
    for gap in here.gaps():
        yield note("confinement", gap)
