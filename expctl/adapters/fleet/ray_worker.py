"""The actor of Ray that does a device's jobs, in a process that Ray starts on the worker's machine."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from expctl.adapters.fleet.child import lines_of
from expctl.adapters.fleet.ray_node import FOLDER, SETTINGS

EMPTY: Mapping[str, str] = {}


class DeviceWorker:
    """Does one job after the other. `name` is the worker's name for people."""

    def __init__(self) -> None:
        self._folder = Path(os.environ[FOLDER])
        for name in SETTINGS:
            os.environ.pop(name, None)  # the jobs don't know of Ray

    def name(self) -> str:
        """Return the worker's name, as `expctl fleet join` was given it."""
        return (self._folder / "name").read_text()

    def do(self, job: bytes, pack: bytes) -> Iterator[bytes]:
        """Do a job, and yield what it says, line by line."""
        yield from lines_of(self._folder, job, pack, EMPTY)
