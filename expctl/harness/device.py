"""Calls the GPU vendor's runtime through ctypes: memory, events, waiting. Nothing here goes through the build under test.

CUDA's driver interface works in the context that the build opened, the primary one; HIP's functions have the same shape.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from expctl.harness.report import Fault

_NULL_STREAM = None
LIBRARIES = {"cuda": "libcuda.so.1", "hip": "libamdhip64.so"}
_CUDA = {
    "alloc": "cuMemAlloc_v2",
    "free": "cuMemFree_v2",
    "to_device": "cuMemcpyHtoD_v2",
    "to_host": "cuMemcpyDtoH_v2",
    "fill": "cuMemsetD16_v2",
    "event": "cuEventCreate",
    "record": "cuEventRecord",
    "elapsed": "cuEventElapsedTime",
    "wait": "cuCtxSynchronize",
}
_HIP = {
    "alloc": "hipMalloc",
    "free": "hipFree",
    "to_device": "hipMemcpyHtoD",
    "to_host": "hipMemcpyDtoH",
    "fill": "hipMemsetD16",
    "event": "hipEventCreateWithFlags",
    "record": "hipEventRecord",
    "elapsed": "hipEventElapsedTime",
    "wait": "hipDeviceSynchronize",
}
_pointer, _size, _unsigned = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint
_ARGUMENTS: dict[str, Sequence[Any]] = {
    "alloc": (ctypes.POINTER(_pointer), _size),
    "free": (_pointer,),
    "to_device": (_pointer, _pointer, _size),
    "to_host": (_pointer, _pointer, _size),
    "fill": (_pointer, ctypes.c_ushort, _size),
    "event": (ctypes.POINTER(_pointer), _unsigned),
    "record": (_pointer, _pointer),
    "elapsed": (ctypes.POINTER(ctypes.c_float), _pointer, _pointer),
    "wait": (),
}


class Runtime:
    """The runtime of a vendor, `cuda` or `hip`. Each call raises `error` with the function and the error number."""

    def __init__(self, vendor: str, error: type[Exception] = Fault) -> None:
        self._is_cuda, self._error = vendor == "cuda", error
        names, library = _CUDA if self._is_cuda else _HIP, LIBRARIES[vendor]
        try:
            self._library = loaded = ctypes.CDLL(_loaded_path(library))
        except OSError as missing:
            raise error(f"{library}: {missing}") from missing
        self._calls = {}
        for what, name in names.items():
            call = getattr(loaded, name)
            call.argtypes = _ARGUMENTS[what]
            self._calls[what] = (name, call)
        self._events: list[ctypes.c_void_p] = []

    def open_context(self) -> None:
        """Make the primary context of the first CUDA device current, where no build has done so. HIP has nothing to open."""
        if self._is_cuda:
            device, context = ctypes.c_int(), ctypes.c_void_p()
            self._check("cuInit", self._library.cuInit(0))
            self._check("cuDeviceGet", self._library.cuDeviceGet(ctypes.byref(device), 0))
            retain = self._library.cuDevicePrimaryCtxRetain
            self._check("cuDevicePrimaryCtxRetain", retain(ctypes.byref(context), device))
            self._check("cuCtxSetCurrent", self._library.cuCtxSetCurrent(context))

    def _do(self, what: str, *arguments: object) -> None:
        name, call = self._calls[what]
        self._check(name, call(*arguments))

    def _check(self, name: str, error: int) -> None:
        if error:
            raise self._error(f"{name} failed with error {error}")

    def alloc(self, size: int) -> int:
        """Allocate `size` bytes of device memory; return the address."""
        pointer = ctypes.c_void_p()
        self._do("alloc", ctypes.byref(pointer), size)
        if not pointer.value:
            raise self._error(f"the device gave no memory for {size} bytes")
        return pointer.value

    def free(self, address: int) -> None:
        """Free device memory that `alloc` returned."""
        self._do("free", address)

    def to_device(self, device: int, host: int, size: int) -> None:
        """Copy `size` bytes from host to device; return when done."""
        self._do("to_device", device, host, size)

    def to_host(self, host: int, device: int, size: int) -> None:
        """Copy `size` bytes from device to host; return when done."""
        self._do("to_host", host, device, size)

    def fill(self, device: int, half_word: int, count: int) -> None:
        """Set `count` 16-bit words of device memory to `half_word`."""
        self._do("fill", device, half_word, count)

    def wait(self) -> None:
        """Wait until the device has done all work on all streams."""
        self._do("wait")

    def record(self, number: int) -> None:
        """Record event `number` on the default stream, where a build launches. The event is created when first used."""
        while len(self._events) <= number:
            event = ctypes.c_void_p()
            self._do("event", ctypes.byref(event), 0)
            self._events.append(event)
        self._do("record", self._events[number], _NULL_STREAM)

    def elapsed_ns(self, first: int, second: int) -> int:
        """Return the ns between two recorded events that the device has passed."""
        elapsed_ms = ctypes.c_float()
        self._do("elapsed", ctypes.byref(elapsed_ms), self._events[first], self._events[second])
        return round(float(elapsed_ms.value) * 1e6)


def _loaded_path(library: str) -> str:
    """Return the path from which this process has loaded `library`, in any version, else `library` itself."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        paths = (line.split(maxsplit=5)[-1].strip() for line in maps)
        return next((path for path in paths if path.rpartition("/")[2].startswith(library)), library)
