"""The walls' self-test: all is stopped here, and with each feature of the kernel masked it names exactly what is open."""

import functools
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from expctl.adapters.walls import act
from expctl.adapters.walls.attempts import ACTS
from expctl.adapters.walls.self_test import ENDED
from expctl.launcher.capabilities import detect_capabilities
from expctl.launcher.process import pids

ROOT = Path(__file__).parents[3]
NOBODY = 65534
MINE, ORDINARY = "as I am", "as an ordinary user"
# A mask of namespaces forbids unshare itself, so that this act has nothing to do.
OF_THE_MASK = "makes namespaces of its own"
MASKS = ["nothing", "landlock", "namespaces", "processes", "seccomp", "landlock=5", "all"]
MORE = [
    "landlock=3,namespaces",
    "landlock=2,namespaces",
    "landlock,namespaces",
    "landlock,seccomp",
    "namespaces,seccomp",
    "gpu",
]
MORE += ["gpu,landlock", "gpu,seccomp", "gpu,processes", "processes,seccomp", "landlock,processes"]


@functools.cache
def tried(mask: str, who: str) -> dict[str, Any]:
    """What the self-test says behind a mask. An ordinary user may not be able to enter the folder of this Python."""
    python, more = sys.executable, {}
    if who == ORDINARY:
        if os.geteuid() != 0:
            pytest.skip("this is an ordinary user")
        python = shutil.which(f"python3.{sys.version_info.minor}", path="/usr/bin:/usr/local/bin") or ""
        if not python:
            pytest.skip("no Python of this version that every user may start")
        more = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    words = {"PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1", "HOME": "/tmp", "TMPDIR": "/tmp"}
    words["PYTHONPATH"] = os.pathsep.join((str(ROOT), sysconfig.get_path("purelib")))
    argv = [python, "-m", "tests.adapters.walls.masked_kernel", mask]
    ended = subprocess.run(argv, cwd=ROOT, env=words, capture_output=True, text=True, timeout=120, **more)  # type: ignore[call-overload]
    if who == ORDINARY and "Permission denied" in ended.stderr:
        pytest.skip("other users may not read this folder")
    assert ended.returncode == 0, ended.stderr
    return dict(json.loads(ended.stdout))


def opened(result: dict[str, Any]) -> set[str]:
    return {each["act"] for each in result["attempts"] if each["outcome"] == "open"}


def standing(result: dict[str, Any], mask: str = "nothing") -> set[str]:
    """What stops anything, by what the self-test says of the kernel; where it says `unconfined`, a filter may yet stand."""
    gpu, names = "gpu" in mask, mask.split(",")
    said = result["confinement"]
    landlock = int(found[1]) if (found := re.search(r"landlock (\d+)", said)) else 0
    spaces, processes, calls = "own mounts" in said, "own processes" in said, "seccomp" not in names and "all" not in names
    since = {act.LANDLOCK: 1, act.CUT: 3, act.TCP: 4, act.SCOPES: 6}
    found_here = {wall for wall, version in since.items() if landlock >= version}
    found_here |= {act.LANDLOCK_CPU} if landlock and not gpu else set()
    found_here |= ({act.SPACES} if spaces else set()) | ({act.CALLS} if calls else set())
    found_here |= {act.PROCESSES} if processes else set()
    return found_here | ({act.SPACES_CPU} if spaces and not gpu else set()) | ({act.CALLS_CPU} if calls and not gpu else set())


@pytest.mark.parametrize("who", [MINE, ORDINARY])
@pytest.mark.parametrize("mask", [*MASKS, *(pytest.param(each, marks=pytest.mark.long) for each in MORE)])
def test_what_is_open_is_what_the_missing_feature_alone_stops(mask: str, who: str) -> None:
    if detect_capabilities().gaps() or (act.LANDLOCK_CPU not in standing(tried("nothing", MINE))):
        pytest.skip(f"this kernel offers {detect_capabilities().words()}")
    result, without = tried(mask, who), opened(tried("all", who))
    here = standing(result, mask)
    by = {each.name: set(each.by) for each in ACTS}
    if "namespaces" not in mask and mask != "all":
        without.add(OF_THE_MASK)
    assert opened(result) == {name for name in without if not by[name] & here}
    words = {"landlock": "landlock", "namespaces": "own mounts", "processes": "own processes", "seccomp": "own calls"}
    for name in mask.split(","):  # the mask was in the way
        word = words.get(name)
        assert word is None or word not in result["confinement"]


@pytest.mark.parametrize("who", [MINE, ORDINARY])
def test_every_act_does_its_harm_where_nothing_holds_it_or_needs_a_right(who: str) -> None:
    """What is stopped without any walls is a matter of the user's rights, of the limits, or of the file system."""
    result = tried("no-walls", who)
    stopped = {each["act"] for each in result["attempts"] if each["outcome"] == "stopped"}
    across = {each.name for each in ACTS if each.name.startswith(("moves a file into", "writes through"))}  # no scratch there
    rights = {each.name for each in ACTS if act.RIGHTS in each.by or act.LIMITS in each.by or act.LAUNCHER in each.by}
    machine = {"makes a map of bpf", "opens a setting of the machine for writing", "opens the kernel's log for writing"}
    machine |= {"opens the control group of others for writing", "opens a performance event"}
    machine |= {"handles page faults itself (userfaultfd)", "sets up io_uring", "makes namespaces of its own"}
    root = os.geteuid() == 0 and who == MINE
    assert stopped <= across | rights | (set() if root else machine)
    assert len(result["attempts"]) - len(stopped) >= 45


def test_nothing_is_left_and_everything_is_tried() -> None:
    before = set(pids())
    result = tried("nothing", MINE)
    assert len({each["act"] for each in result["attempts"]}) == len(ACTS) + len(ENDED)
    left = [pid for pid in set(pids()) - before if b"expctl-walls" in commandline(pid)]
    assert not left
    shared = Path("/dev/shm").glob("expctl-walls-*")  # named by the process that tries; other tests try at the same time
    assert not [each for each in shared if int(each.name.rpartition("-")[2]) not in pids()]


def test_the_pages_say_how_many_acts_are_tried() -> None:
    pages = "".join((ROOT / "docs" / name).read_text() for name in ("SECURITY.md", "WALLS.md"))
    figures = re.findall(r"tries (\d+) forbidden acts|(\d+) of (\d+) acts stopped|\d+ of (\d+) acts not stopped", pages)
    everything = len(ACTS) + len(ENDED)
    assert [int(number) for found in figures for number in found if number] == [everything, *[everything - 1] * 3]


def commandline(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
