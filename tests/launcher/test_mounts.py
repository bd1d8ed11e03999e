"""What /dev shows of a launch: the plain devices and GPUs, and nothing else of the machine's."""

import subprocess
import sys

import pytest

from expctl.launcher.capabilities import detect_capabilities
from expctl.launcher.namespaces import Entry

# In mount namespaces of its own, with a /dev in which other names stand for the null device: a GPU's files, a terminal, a disk.
SCRIPT = """
import os
from pathlib import Path
from expctl.launcher.kernel import MS_BIND, MS_PRIVATE, MS_REC, mount, unshare
from expctl.launcher.mounts import make_devices
from expctl.launcher.namespaces import NEW_MOUNTS, NEW_USER

unshare(NEW_MOUNTS | NEW_USER * (os.geteuid() != 0))
mount("", "/", flags=MS_REC | MS_PRIVATE)
null = os.open("/dev/null", os.O_PATH)
mount("expctl", "/dev", "tmpfs")
for name in ("null", "zero", "nvidia0", "nvidiactl", "nvidia-caps/nvidia-cap1", "dri/renderD128", "kfd", "tty1", "sda", "kmsg"):
    file = Path("/dev", name)
    file.parent.mkdir(exist_ok=True)
    file.touch()
    mount(f"/proc/self/fd/{null}", str(file), flags=MS_BIND)
Path("/dev/shm").mkdir()
make_devices(Path("/dev/shm"))
for folder, _, _ in sorted(os.walk("/dev")):
    print(folder, *sorted(os.listdir(folder)))
Path("/dev/nvidia0").write_bytes(b"said")
"""


def test_the_devices_of_a_launch_are_the_plain_ones_and_gpus() -> None:
    if detect_capabilities().entry is Entry.NONE:
        pytest.skip("no mount namespaces here")
    said = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)
    assert said.stderr == ""
    assert said.stdout.splitlines() == [
        "/dev dri fd kfd null nvidia-caps nvidia0 nvidiactl shm stderr stdin stdout zero",
        "/dev/dri renderD128",
        "/dev/nvidia-caps nvidia-cap1",
        "/dev/shm",
    ]
