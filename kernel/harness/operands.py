"""Lays out the operands of one product in the memory of the build's process or device, for the test's launches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from kernel.harness.build_proxy import BuildProxy
from kernel.harness.memory import Place
from kernel.harness.reference import POISON, Inputs
from kernel.runtime.formats import Bytes, Halves, prepack
from kernel.runtime.library import LaunchError

_CANARY = 0xA5


class Operands(ABC):
    """The operands of one product. Call `poison`, `launch`, `output`; reading and writing doesn't go through the build."""

    def __init__(self, build: BuildProxy, inputs: Inputs) -> None:
        self._build, self._host = build, build.host
        self._inputs = inputs
        (self.m, self.k), self.n = inputs.a.shape, inputs.codes.shape[1]
        bias = [] if inputs.bias is None else [bytes_of(inputs.bias)]
        self._given: list[Bytes] = [bytes_of(inputs.a), prepack(inputs.codes).reshape(-1), *bias]
        self._c_bytes = 2 * self.m * self.n
        self._addresses: Sequence[int]
        self._c: int

    def launch(self, config: int, blocks: Sequence[tuple[int, int]] = (), *, threads: int = 1) -> None:
        """Compute all of C, or ranges of row blocks [first, end), with `threads` threads; return when it is written."""
        a, b, bias = (*self._addresses, None)[:3]
        call = (config, int(self._inputs.fp8), a, b, bias, self._c, self._inputs.scale, self.m, self.n, self.k)
        self._host.ask("launch", call=call, blocks=list(blocks), threads=threads)

    def set_row(self, row: int, values: Halves) -> None:
        """Overwrite one row of A (K,) in place. An output that the build kept from before is wrong from then on."""
        self._given[0] = self._given[0].copy()
        self._given[0][row * 2 * self.k : (row + 1) * 2 * self.k] = bytes_of(values)
        self._write(self._addresses[0], self._given[0])

    def check_inputs(self) -> None:
        """Raise LaunchError if A, B or the bias have changed."""
        for name, address, given in zip(("A", "B", "the bias"), self._addresses, self._given, strict=False):
            if not np.array_equal(self._read(address, given.size), given):
                raise LaunchError(f"the launch wrote into {name}")

    @abstractmethod
    def poison(self) -> None:
        """Fill C with reference.POISON, a NaN that no kernel writes."""

    @abstractmethod
    def output(self) -> Halves:
        """Read C (M, N) fp16. Raises LaunchError if memory around a matrix was written."""

    @abstractmethod
    def release(self) -> None:
        """Free the memory of the operands."""

    @abstractmethod
    def _write(self, address: int, values: Bytes) -> None: ...

    @abstractmethod
    def _read(self, address: int, size: int) -> Bytes: ...


class CpuOperands(Operands):
    """Operands on the CPU: each matrix ends at an unreadable page and has canary bytes in front."""

    def __init__(self, build: BuildProxy, inputs: Inputs) -> None:
        super().__init__(build, inputs)
        first, second, c, *rest = build.place(
            [self._given[0].size, self._given[1].size, self._c_bytes, *(given.size for given in self._given[2:])], guards=True
        )
        self._addresses, self._c = [first.address, second.address, *(place.address for place in rest)], c.address
        self._places: list[Place] = [first, second, c, *rest]
        for place in self._places:
            self._write(place.address - place.canary, np.full(place.canary, _CANARY, np.uint8))
        for address, given in zip(self._addresses, self._given, strict=True):
            self._write(address, given)

    def poison(self) -> None:  # noqa: D102 - see Operands
        self._write(self._c, bytes_of(np.full(self.m * self.n, POISON, np.uint16)))

    def output(self) -> Halves:  # noqa: D102 - see Operands
        for place in self._places:
            if (self._read(place.address - place.canary, place.canary) != _CANARY).any():
                raise LaunchError("memory in front of a matrix was written")
        return self._read(self._c, self._c_bytes).view(np.float16).reshape(self.m, self.n)

    def release(self) -> None:  # noqa: D102 - see Operands
        self._host.ask("forget")

    def _write(self, address: int, values: Bytes) -> None:
        self._host.write(address, values.ctypes.data, values.nbytes)

    def _read(self, address: int, size: int) -> Bytes:
        found = np.empty(size, np.uint8)
        self._host.read(found.ctypes.data, address, size)
        return found


class DeviceOperands(Operands):
    """Operands on a GPU: C lies between two canaries of 4096 bytes."""

    CANARY_BYTES = 4096

    def __init__(self, build: BuildProxy, inputs: Inputs) -> None:
        super().__init__(build, inputs)
        around = self._c_bytes + 2 * self.CANARY_BYTES
        sizes = [given.size for given in self._given]
        (self._staging,) = build.place([max(*sizes, around)], guards=False)
        *self._addresses, self._around_c = self._host.ask("alloc", sizes=[*sizes, around])["addresses"]
        self._c = self._around_c + self.CANARY_BYTES
        for address, given in zip(self._addresses, self._given, strict=True):
            self._write(address, given)

    def poison(self) -> None:  # noqa: D102 - see Operands
        words = (self._c_bytes + 2 * self.CANARY_BYTES) // 2
        self._host.ask("fill", device=self._around_c, half_word=POISON, count=words)

    def output(self) -> Halves:  # noqa: D102 - see Operands
        found = self._read(self._around_c, self._c_bytes + 2 * self.CANARY_BYTES).view(np.uint16)
        words = self.CANARY_BYTES // 2
        if (found[:words] != POISON).any() or (found[-words:] != POISON).any():
            raise LaunchError("memory around C was written")
        return found[words:-words].view(np.float16).reshape(self.m, self.n)

    def release(self) -> None:  # noqa: D102 - see Operands
        self._host.ask("free")
        self._host.ask("forget")

    def _write(self, address: int, values: Bytes) -> None:
        self._host.write(self._staging.address, values.ctypes.data, values.nbytes)
        self._host.ask("upload", device=address, host=self._staging.address, size=values.nbytes)

    def _read(self, address: int, size: int) -> Bytes:
        found = np.empty(size, np.uint8)
        self._host.ask("download", pieces=[(self._staging.address, address, size)])
        self._host.read(found.ctypes.data, self._staging.address, size)
        return found


def place(build: BuildProxy, inputs: Inputs) -> Operands:
    """Lay out `inputs` where the build needs them: host memory for a CPU build, device memory for a GPU build."""
    return DeviceOperands(build, inputs) if build.is_on_device else CpuOperands(build, inputs)


def bytes_of(array: np.typing.NDArray[np.generic]) -> Bytes:
    """Return the bytes of `array` in C order; a view if it is contiguous."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)
