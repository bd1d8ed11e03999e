"""An engine without Ray: each device is a thread that starts the same process for a job as a worker of Ray does."""

import contextlib
import os
import queue
import signal
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from expctl.adapters.fleet.child import lines_of
from expctl.adapters.fleet.wire import heard_of, job_bytes
from expctl.domain.fleet.device import Device
from expctl.launcher.process import children_of, family_of
from expctl.ports.fleet import Heard, Job, Lost, Present


class LocalEngine:
    """Devices named by `names`, each with a folder, home and lock of its own below `folder`, as if on a machine of its own."""

    def __init__(self, folder: Path, names: tuple[str, ...], environment: Mapping[str, str]) -> None:
        self._folder, self._environment = folder, environment
        self._heard: queue.Queue[Heard] = queue.Queue()
        self.jobs: list[Job] = []
        for name in names:
            self.join(name)

    def join(self, name: str) -> None:
        """A device is there (again)."""
        for each in ("locks", "home"):
            (self._folder / name / each).mkdir(parents=True, exist_ok=True)
        self._heard.put(Present(device=name, found=Device(uuid=name, kind="cpu"), worker=f"host-{name}"))

    def start(self, device: str, job: Job, pack: bytes) -> None:
        """Begin a job in a thread."""
        self.jobs.append(job)
        threading.Thread(target=self._work, args=(device, job, pack), daemon=True).start()

    def heard(self, timeout_s: float) -> tuple[Heard, ...]:
        """Wait for something, and return all there is."""
        found: list[Heard] = []
        try:
            found.append(self._heard.get(timeout=timeout_s))
            while True:
                found.append(self._heard.get_nowait())
        except queue.Empty:
            return tuple(found)

    def _work(self, device: str, job: Job, pack: bytes) -> None:
        own = self._folder / device
        variables = {**self._environment, "EXPCTL_LOCK_DIR": str(own / "locks")}
        for line in lines_of(own / "work", job_bytes(job), pack, variables):
            self._heard.put(heard_of(line))

    def family(self, device: str) -> tuple[int, ...]:
        """The processes of the job that a device does."""
        mark = str(self._folder / device / "work").encode()
        for pid in children_of(os.getpid()):
            if mark in Path(f"/proc/{pid}/cmdline").read_bytes():
                return family_of(pid)
        return ()

    def kill(self, device: str) -> None:
        """SIGKILL to the process that does the job, and say that the device is lost."""
        for pid in self.family(device)[:1]:
            os.kill(pid, signal.SIGKILL)
        self._heard.put(Lost(device=device, why="killed by the test"))

    def freeze(self, device: str, seconds: float) -> None:
        """Stop all processes of a device, and let them go on after some seconds."""
        stopped = self.family(device)
        for pid in stopped:
            with contextlib.suppress(ProcessLookupError):  # a launch that has ended meanwhile
                os.kill(pid, signal.SIGSTOP)

        def thaw() -> None:
            time.sleep(seconds)
            for pid in stopped:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)

        threading.Thread(target=thaw, daemon=True).start()
