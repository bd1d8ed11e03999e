"""Copies numpy arrays to a GPU for a call and back, for C libraries that take device pointers; needs no torch or cupy."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from expctl.harness.arrays import Array
from expctl.harness.clocks import COLD_BYTES, Call, EventClock
from expctl.harness.device import Runtime


class DeviceArray:
    """An array on the device: its address, and the type and shape of the numpy array that was copied there."""

    def __init__(self, address: int, host: Array) -> None:
        self.address, self.dtype, self.shape, self.size, self.nbytes = address, host.dtype, host.shape, host.size, host.nbytes


class DeviceArrays:
    """The device memory of calls: a buffer for each argument, used again by the next call. `clock` times calls there."""

    def __init__(self, vendor: str) -> None:
        self._runtime = Runtime(vendor)
        self._runtime.open_context()
        self.clock = EventClock(RuntimeEvents(self._runtime))
        self._buffers: dict[int, tuple[int, int]] = {}

    def place(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """Copy the numpy arrays among `values` to the device; return the values with a DeviceArray for each. Raises Fault."""
        return tuple(self._placed(at, each) if isinstance(each, np.ndarray) else each for at, each in enumerate(values))

    def _placed(self, at: int, value: Array) -> DeviceArray:
        host = np.ascontiguousarray(value)
        address, size = self._buffers.get(at, (0, -1))
        if size != host.nbytes:
            if address:
                self._runtime.free(address)
            address = self._runtime.alloc(max(1, host.nbytes))
            self._buffers[at] = address, host.nbytes
        self._runtime.to_device(address, host.ctypes.data, host.nbytes)
        return DeviceArray(address, host)

    def fetch(self, placed: Sequence[Any]) -> tuple[Any, ...]:
        """Return the values with a numpy array, copied from the device, for each DeviceArray."""
        return tuple(self._fetched(each) if isinstance(each, DeviceArray) else each for each in placed)

    def _fetched(self, placed: DeviceArray) -> Array:
        host = np.empty(placed.shape, placed.dtype)
        self._runtime.to_host(host.ctypes.data, placed.address, host.nbytes)
        return host


class RuntimeEvents:
    """A pair of events of the vendor's runtime, on the default stream."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime, cold = runtime, runtime.alloc(COLD_BYTES)
        self.begin: Call = lambda: runtime.record(0)
        self.end: Call = lambda: runtime.record(1)
        self.wait: Call = runtime.wait
        self.cool: Call = lambda: runtime.fill(cold, 0, COLD_BYTES // 2)

    def elapsed_ns(self) -> int:  # noqa: D102 - see Events
        return self._runtime.elapsed_ns(0, 1)


@cache
def arrays_on(vendor: str) -> DeviceArrays:
    """Return the device memory of this process on the GPU of `vendor`, `cuda` or `hip`. Raises Fault without one."""
    return DeviceArrays(vendor)
