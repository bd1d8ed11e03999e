"""One product laid out in the memory of its target, ready to be launched again and again."""

from __future__ import annotations

import gc
import time
from abc import ABC, abstractmethod

import numpy as np

from kernel.harness.buffers import GuardedBytes, bytes_of, guarded_copy, side_by_side
from kernel.harness.formats import Halves, prepack
from kernel.harness.library import DeviceLibrary, LaunchError, Library
from kernel.harness.reference import POISON, Inputs


class Operands(ABC):
    """`poison`, then `launch` or `time`, then `output`."""

    def __init__(self, inputs: Inputs) -> None:
        self.fp8, self.scale = inputs.fp8, inputs.scale
        (self.m, self.k), self.n = inputs.a.shape, inputs.codes.shape[1]

    @abstractmethod
    def poison(self) -> None:
        """Fills C with a NaN that no kernel writes."""

    @abstractmethod
    def set_row(self, row: int, values: Halves) -> None:
        """Overwrites one row of A (K,) where it lies: an answer that was kept from before is wrong from then on."""

    @abstractmethod
    def launch(self, config: int, row_blocks: tuple[int, int] | None = None) -> None:
        """Returns when C is written."""

    @abstractmethod
    def time(self, config: int, iterations: int) -> list[int]:
        """Nanoseconds of each iteration, in order."""

    @abstractmethod
    def output(self) -> Halves:
        """A copy of C (M, N). Raises LaunchError if memory around C was written."""

    @abstractmethod
    def release(self) -> None:
        """Gives its memory back."""


class CpuOperands(Operands):
    """With `guarded`, all four matrices end at an unreadable page; without, side by side (for timing)."""

    def __init__(self, library: Library, inputs: Inputs, *, guarded: bool) -> None:
        super().__init__(inputs)
        self._library = library
        self._guards: list[GuardedBytes] = []
        self._c: Halves
        packed = prepack(inputs.codes)
        if guarded:
            for array in (inputs.a, packed, np.zeros((self.m, self.n), np.float16), inputs.bias):
                if array is not None:
                    self._guards.append(guarded_copy(array))
            views = [guard.data for guard in self._guards]
            self._c = views[2].view(np.float16).reshape(self.m, self.n)
        else:
            arrays = (inputs.a, packed, np.zeros((self.m, self.n), np.float16), inputs.bias)
            views = side_by_side([bytes_of(array) for array in arrays if array is not None])
            self._c = views[2].view(np.float16).reshape(self.m, self.n)
        self._a = views[0].view(np.float16).reshape(self.m, self.k)
        self._views = views  # kept alive: the arguments below are bare addresses
        a, b, c = (view.ctypes.data for view in views[:3])
        bias = views[3].ctypes.data if inputs.bias is not None else None
        self._arguments = (inputs.fp8, a, b, bias, c, inputs.scale, self.m, self.n, self.k)

    def poison(self) -> None:  # noqa: D102 - see Operands
        self._c.view(np.uint16).fill(POISON)

    def set_row(self, row: int, values: Halves) -> None:  # noqa: D102 - see Operands
        self._a[row] = values

    def launch(self, config: int, row_blocks: tuple[int, int] | None = None) -> None:  # noqa: D102 - see Operands
        self._library.launch(config, *self._arguments, row_blocks)

    def time(self, config: int, iterations: int) -> list[int]:  # noqa: D102 - see Operands
        launch, arguments, clock = self._library.launch, self._arguments, time.monotonic_ns
        rows = (0, self._library.row_blocks(config, self.m))
        collecting = gc.isenabled()
        gc.disable()
        try:
            durations = []
            for _ in range(iterations):
                begin = clock()
                launch(config, *arguments, rows)
                durations.append(clock() - begin)
            return durations
        finally:
            if collecting:
                gc.enable()

    def output(self) -> Halves:  # noqa: D102 - see Operands
        if not all(guard.is_intact() for guard in self._guards):
            raise LaunchError("memory in front of a matrix was written")
        return self._c.copy()

    def release(self) -> None:  # noqa: D102 - see Operands
        self._guards.clear()


class DeviceOperands(Operands):
    """C lies between two canaries of device memory."""

    CANARY_BYTES = 4096

    def __init__(self, library: DeviceLibrary, inputs: Inputs) -> None:
        super().__init__(inputs)
        self._library = library
        self._pointers: list[int] = []
        a = self._upload(np.ascontiguousarray(inputs.a).view(np.uint8))
        b = self._upload(prepack(inputs.codes))
        bias = None if inputs.bias is None else self._upload(inputs.bias.view(np.uint8))
        self._host = np.zeros(2 * self.CANARY_BYTES + self.m * self.n * 2, dtype=np.uint8)
        self._around_c = self._upload(self._host)
        self._arguments = (
            inputs.fp8,
            a,
            b,
            bias,
            self._around_c + self.CANARY_BYTES,
            inputs.scale,
            self.m,
            self.n,
            self.k,
        )

    def _upload(self, array: np.typing.NDArray[np.uint8]) -> int:
        pointer = self._library.alloc(array.nbytes)
        self._pointers.append(pointer)
        self._library.write(pointer, array.ctypes.data, array.nbytes)
        return pointer

    def poison(self) -> None:  # noqa: D102 - see Operands
        self._host.view(np.uint16).fill(POISON)
        self._library.write(self._around_c, self._host.ctypes.data, self._host.nbytes)

    def set_row(self, row: int, values: Halves) -> None:  # noqa: D102 - see Operands
        held = np.ascontiguousarray(values)
        self._library.write(self._arguments[1] + row * self.k * held.itemsize, held.ctypes.data, held.nbytes)

    def launch(self, config: int, row_blocks: tuple[int, int] | None = None) -> None:  # noqa: D102 - see Operands
        self._library.launch(config, *self._arguments, row_blocks)
        self._library.wait()

    def time(self, config: int, iterations: int) -> list[int]:  # noqa: D102 - see Operands
        return self._library.time(config, *self._arguments, iterations)

    def output(self) -> Halves:  # noqa: D102 - see Operands
        self._library.read(self._host.ctypes.data, self._around_c, self._host.nbytes)
        front, back = self._host[: self.CANARY_BYTES], self._host[-self.CANARY_BYTES :]
        if (front.view(np.uint16) != POISON).any() or (back.view(np.uint16) != POISON).any():
            raise LaunchError("memory around C was written")
        return self._host[self.CANARY_BYTES : -self.CANARY_BYTES].view(np.float16).reshape(self.m, self.n).copy()

    def release(self) -> None:  # noqa: D102 - see Operands
        while self._pointers:
            self._library.free(self._pointers.pop())


def place(library: Library, inputs: Inputs, *, guarded: bool) -> Operands:
    """In the memory of the machine that `library` is for; `guarded` matters on the CPU alone."""
    if isinstance(library, DeviceLibrary):
        return DeviceOperands(library, inputs)
    return CpuOperands(library, inputs, guarded=guarded)
