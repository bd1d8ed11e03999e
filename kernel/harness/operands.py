"""Lays out the operands of one product in the memory of the build's process or device, for the test's launches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from kernel.harness.build_memory import BuildMemory, DeviceMemory, HostMemory
from kernel.harness.build_proxy import BuildProxy
from kernel.harness.reference import POISON, Inputs
from kernel.runtime.formats import Bytes, Halves
from kernel.runtime.library import LaunchError


class Operands(ABC):
    """The operands of one product. Call `poison`, `launch`, `output`; reading and writing doesn't go through the build."""

    def __init__(self, build: BuildProxy, inputs: Inputs, packed: Bytes) -> None:
        self._build, self._inputs = build, inputs
        (self.m, self.k), self.n = inputs.a.shape, inputs.codes.shape[1]
        bias = [] if inputs.bias is None else [bytes_of(inputs.bias)]
        self._given: list[Bytes] = [bytes_of(inputs.a), packed, *bias]
        self._c_bytes = 2 * self.m * self.n
        self._memory: BuildMemory
        self._addresses: Sequence[int]
        self._c: int

    def launch(self, config: int, blocks: Sequence[tuple[int, int]] = (), *, threads: int = 1) -> None:
        """Compute all of C, or ranges of row blocks [first, end), with `threads` threads; return when it is written."""
        a, b, bias = (*self._addresses, None)[:3]
        call = (config, int(self._inputs.fp8), a, b, bias, self._c, self._inputs.scale, self.m, self.n, self.k)
        self._build.host.ask("launch", call=call, blocks=list(blocks), threads=threads)

    def set_row(self, row: int, values: Halves) -> None:
        """Overwrite one row of A (K,) in place. An output that the build kept from before is wrong from then on."""
        self._given[0] = self._given[0].copy()
        self._given[0][row * 2 * self.k : (row + 1) * 2 * self.k] = bytes_of(values)
        self._memory.write(self._addresses[0], self._given[0])

    def check_inputs(self) -> None:
        """Raise LaunchError if A, B or the bias have changed."""
        for name, address, given in zip(("A", "B", "the bias"), self._addresses, self._given, strict=False):
            if not np.array_equal(self._memory.read(address, given.size), given):
                raise LaunchError(f"the launch wrote into {name}")

    def _write_given(self) -> None:
        for address, given in zip(self._addresses, self._given, strict=True):
            self._memory.write(address, given)

    @abstractmethod
    def poison(self) -> None:
        """Fill C with reference.POISON, a NaN that no kernel writes."""

    @abstractmethod
    def output(self) -> Halves:
        """Read C (M, N) fp16. Raises LaunchError if memory around a matrix was written."""

    def release(self) -> None:
        """Free the memory of the operands."""
        self._memory.release()


class CpuOperands(Operands):
    """Operands on the CPU: each matrix ends at an unreadable page and has canary bytes in front."""

    def __init__(self, build: BuildProxy, inputs: Inputs, packed: Bytes) -> None:
        super().__init__(build, inputs, packed)
        self._memory = HostMemory(build)
        first, second, self._c, *rest = self._memory.take(
            [self._given[0].size, self._given[1].size, self._c_bytes, *(given.size for given in self._given[2:])]
        )
        self._addresses = [first, second, *rest]
        self._write_given()

    def poison(self) -> None:  # noqa: D102 - see Operands
        self._memory.write(self._c, bytes_of(np.full(self.m * self.n, POISON, np.uint16)))

    def output(self) -> Halves:  # noqa: D102 - see Operands
        self._memory.check_canaries()
        return self._memory.read(self._c, self._c_bytes).view(np.float16).reshape(self.m, self.n)


class DeviceOperands(Operands):
    """Operands on a GPU: C lies between two canaries of 4096 bytes."""

    CANARY_BYTES = 4096

    def __init__(self, build: BuildProxy, inputs: Inputs, packed: Bytes) -> None:
        super().__init__(build, inputs, packed)
        self._memory = DeviceMemory(build)
        around = self._c_bytes + 2 * self.CANARY_BYTES
        *self._addresses, self._around_c = self._memory.take([*(given.size for given in self._given), around])
        self._c = self._around_c + self.CANARY_BYTES
        self._write_given()

    def poison(self) -> None:  # noqa: D102 - see Operands
        words = (self._c_bytes + 2 * self.CANARY_BYTES) // 2
        self._build.host.ask("fill", device=self._around_c, half_word=POISON, count=words)

    def output(self) -> Halves:  # noqa: D102 - see Operands
        found = self._memory.read(self._around_c, self._c_bytes + 2 * self.CANARY_BYTES).view(np.uint16)
        words = self.CANARY_BYTES // 2
        if (found[:words] != POISON).any() or (found[-words:] != POISON).any():
            raise LaunchError("memory around C was written")
        return found[words:-words].view(np.float16).reshape(self.m, self.n)


def place(build: BuildProxy, inputs: Inputs, packed: Bytes) -> Operands:
    """Lay out `inputs` where the build needs them, in host or device memory, with `packed` for B."""
    return DeviceOperands(build, inputs, packed) if build.is_on_device else CpuOperands(build, inputs, packed)


def bytes_of(array: np.typing.NDArray[np.generic]) -> Bytes:
    """Return the bytes of `array` in C order; a view if it is contiguous."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)
