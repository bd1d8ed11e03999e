"""Memory of the process or device that a build works in: taken, written and read without going through the build."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from kernel.harness.build_proxy import BuildProxy
from kernel.harness.memory import Place
from kernel.runtime.formats import Bytes
from kernel.runtime.library import LaunchError

_CANARY = 0xA5


class BuildMemory(ABC):
    """Arrays of bytes where a build can reach them; `release` gives all of them back."""

    def __init__(self, build: BuildProxy) -> None:
        self._build, self._host = build, build.host

    @abstractmethod
    def take(self, sizes: Sequence[int]) -> list[int]:
        """Take arrays of `sizes` bytes, once, and return their addresses."""

    @abstractmethod
    def write(self, address: int, values: Bytes) -> None:
        """Copy `values` to `address`, of one of these arrays."""

    def fill(self, address: int, value: int, size: int) -> None:
        """Write `size` bytes of `value` at `address`, of one of these arrays."""
        self.write(address, np.full(size, value, np.uint8))

    @abstractmethod
    def read(self, address: int, size: int) -> Bytes:
        """Return `size` bytes at `address`, of one of these arrays."""

    def check_canaries(self) -> None:  # noqa: B027  a GPU's memory has none here
        """Raise LaunchError if a byte in front of an array was written, where that shows."""

    @abstractmethod
    def release(self) -> None:
        """Free the arrays."""


class HostMemory(BuildMemory):
    """Host memory: each array ends at an unreadable page and has canary bytes in front."""

    def take(self, sizes: Sequence[int]) -> list[int]:  # noqa: D102 - see BuildMemory
        self._places: Sequence[Place] = self._build.place(sizes, guards=True)
        for place in self._places:
            self.write(place.address - place.canary, np.full(place.canary, _CANARY, np.uint8))
        return [place.address for place in self._places]

    def check_canaries(self) -> None:  # noqa: D102 - see BuildMemory
        for place in self._places:
            if (self.read(place.address - place.canary, place.canary) != _CANARY).any():
                raise LaunchError("memory in front of a matrix was written")

    def write(self, address: int, values: Bytes) -> None:  # noqa: D102 - see BuildMemory
        self._host.write(address, values.ctypes.data, values.nbytes)

    def read(self, address: int, size: int) -> Bytes:  # noqa: D102 - see BuildMemory
        found = np.empty(size, np.uint8)
        self._host.read(found.ctypes.data, address, size)
        return found

    def release(self) -> None:  # noqa: D102 - see BuildMemory
        self._host.ask("forget", places=[place.address for place in self._places])


class DeviceMemory(BuildMemory):
    """Memory of a GPU, reached through a staging area in the memory of the build's process."""

    def take(self, sizes: Sequence[int]) -> list[int]:  # noqa: D102 - see BuildMemory
        (self._staging,) = self._build.place([max(sizes)], guards=False)
        self._taken = [int(address) for address in self._host.ask("alloc", sizes=list(sizes))["addresses"]]
        return self._taken

    def write(self, address: int, values: Bytes) -> None:  # noqa: D102 - see BuildMemory
        self._host.write(self._staging.address, values.ctypes.data, values.nbytes)
        self._host.ask("upload", device=address, host=self._staging.address, size=values.nbytes)

    def fill(self, address: int, value: int, size: int) -> None:  # noqa: D102 - see BuildMemory
        self._host.ask("fill", device=address, half_word=value * 0x101, count=size // 2)
        if size % 2:
            super().fill(address + size - 1, value, 1)

    def read(self, address: int, size: int) -> Bytes:  # noqa: D102 - see BuildMemory
        found = np.empty(size, np.uint8)
        self._host.ask("download", pieces=[(self._staging.address, address, size)])
        self._host.read(found.ctypes.data, self._staging.address, size)
        return found

    def release(self) -> None:  # noqa: D102 - see BuildMemory
        self._host.ask("free", addresses=self._taken)
        self._host.ask("forget", places=[self._staging.address])


def memory_of(build: BuildProxy) -> BuildMemory:
    """Return memory where `build` needs its operands: of the host for a CPU build, of the device for a GPU build."""
    return DeviceMemory(build) if build.is_on_device else HostMemory(build)
