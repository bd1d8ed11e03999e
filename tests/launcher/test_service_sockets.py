"""Services that act for any caller can't be asked from within the walls: a /run with all of them, made for the test."""

import subprocess
import sys
from pathlib import Path

import pytest

from expctl.launcher.capabilities import detect_capabilities
from expctl.launcher.namespaces import SERVICE_SOCKETS, Entry

SCRIPT = """
import os, socket, sys, time
from pathlib import Path
sys.path[:0] = {paths!r}

from expctl.adapters.child.contained_process import Child, ChildLimits, Launch
from expctl.launcher.kernel import MS_PRIVATE, MS_REC, mount, unshare
from expctl.launcher.namespaces import NEW_MOUNTS, SERVICE_SOCKETS

try:
    unshare(NEW_MOUNTS)
    mount("", "/", flags=MS_REC | MS_PRIVATE)
    mount("expctl-test", "/run", "tmpfs")
except OSError as error:
    sys.exit("UNTRIED: " + str(error))
files = [Path("/run", name) if "." in name or "/" in name else Path("/run", name, "bus") for name in SERVICE_SOCKETS]
services = []
for file in files:
    file.parent.mkdir(exist_ok=True)
    services.append(socket.socket(socket.AF_UNIX))
    services[-1].bind(str(file))
    services[-1].listen()
ASKS = '''
import socket, sys
for file in sys.argv[1:]:
    try:
        socket.socket(socket.AF_UNIX).connect(file)
        print("reached")
    except OSError as error:
        print(error.strerror)
'''
folder = Path({folder!r})
for limits in (None, ChildLimits(scratch=(folder / "scratch",))):
    argv, log = [sys.executable, "-ISc", ASKS, *map(str, files)], folder / f"log{{limits is None}}"
    with Child(Launch(argv=argv, cwd=folder, environment={{}}, log=log, limits=limits)) as child:
        child.wait(time.monotonic() + 20)
    said = log.read_text().splitlines()
    print(len(said), said.count("reached"))
"""


def test_no_service_is_reached(tmp_path: Path) -> None:
    if detect_capabilities().entry is not Entry.PRIVILEGED:
        pytest.skip("UNTRIED: only root has a /run of its own for this")
    script = SCRIPT.format(paths=[str(Path(__file__).parents[2])], folder=str(tmp_path))
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    if answer.stderr.startswith("UNTRIED"):
        pytest.skip(f"no /run can be mounted here: {answer.stderr.strip()}")
    every = len(SERVICE_SOCKETS)
    assert answer.stdout.split("\n")[:2] == [f"{every} {every}", f"{every} 0"], answer.stdout + answer.stderr
