"""Timed launches on inputs that are put in place just before, of outputs that are poisoned just before."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernel.harness.fresh import Draw, FreshInputs
from kernel.harness.held import HeldBuild
from kernel.harness.operands import bytes_of
from kernel.harness.reference import POISON
from kernel.harness.report import BuildFailed
from kernel.harness.warden import Warden
from kernel.runtime.formats import Bytes, Halves

MOST_OUTPUT_BYTES = 4 << 30
STEP_ON_DEVICE = 128
"""Values: 256 bytes of A, to which GPU memory is aligned."""


@dataclass(frozen=True, slots=True)
class Timed:
    """What the build's own clock says of each launch, and how long they took seen from outside, all together (ns)."""

    ns: tuple[int, ...]
    wall_ns: int


class Rig(ABC):
    """`run`, then look at the outputs of its launches, by number."""

    def __init__(self, build: HeldBuild, warden: Warden, config: int, fresh: FreshInputs) -> None:
        self._build, self._warden, self._config, self._fresh = build, warden, config, fresh
        self.at_once = 1

    @abstractmethod
    def run(self, draws: Sequence[Draw]) -> Timed:
        """One launch each, `at_once` at most."""

    @abstractmethod
    def rows(self, number: int, rows: np.typing.NDArray[np.intp]) -> Halves:
        """These rows of an output, (len(rows), n)."""

    @abstractmethod
    def whole(self, number: int) -> Halves:
        """A copy of an output, (n, n)."""

    @abstractmethod
    def release(self) -> None:
        """Give its memory back."""


class CpuRig(Rig):
    """Operands lie side by side, at the same places for every launch. One launch at a time."""

    def __init__(self, build: HeldBuild, warden: Warden, config: int, fresh: FreshInputs) -> None:
        super().__init__(build, warden, config, fresh)
        n = fresh.n
        answer = warden.ask("set_up", sizes=[2 * n * n, fresh.k_pieces * n * 16, 2 * n * n, 2 * n])
        self._stage = answer["stage"]
        self._a, self._b, self._c, self._bias = answer["addresses"]
        warden.ask("arm_stage", stage=self._stage, call=(config, int(fresh.fp8), n, n, n))
        self._output = np.empty((n, n), np.float16)
        self._poison = np.full((n, n), POISON, np.uint16)

    def run(self, draws: Sequence[Draw]) -> Timed:  # noqa: D102 - see Rig
        (draw,) = draws
        fresh = self._fresh
        self._write(self._c, bytes_of(self._poison))
        self._write(self._bias, bytes_of(fresh.bias(draw)))
        self._write(self._b, bytes_of(fresh.packed(draw)))
        self._write(self._a, bytes_of(fresh.a(draw)))
        answer, wall_ns = self._warden.go(b"%d %r" % (self._stage, draw.scale))
        self._warden.read(self._output.ctypes.data, self._c, self._output.nbytes)
        return Timed(_durations([answer.get("ns")], 1), wall_ns)

    def _write(self, address: int, values: Bytes) -> None:
        self._warden.write(address, values.ctypes.data, values.nbytes)

    def rows(self, number: int, rows: np.typing.NDArray[np.intp]) -> Halves:  # noqa: ARG002, D102 - see Rig
        return self._output if len(rows) == len(self._output) else self._output[rows]

    def whole(self, number: int) -> Halves:  # noqa: ARG002, D102 - see Rig
        return self._output.copy()

    def release(self) -> None:  # noqa: D102 - see Rig
        return


class DeviceRig(Rig):
    """The pools lie on the device, and each launch of a batch is given other pointers into them, and a C of its own."""

    def __init__(self, build: HeldBuild, warden: Warden, config: int, fresh: FreshInputs) -> None:
        super().__init__(build, warden, config, fresh)
        self._row_bytes, self._c_bytes = 2 * fresh.n, 2 * fresh.n * fresh.n
        self.at_once = max(1, min(64, MOST_OUTPUT_BYTES // self._c_bytes))
        pools = [bytes_of(pool) for pool in (fresh.a_pool, fresh.pieces, fresh.bias_pool)]
        (self._staging,) = build.place([max(*(pool.nbytes for pool in pools), self._c_bytes)], guards=False)
        addresses = warden.ask("alloc", sizes=[*(pool.nbytes for pool in pools), self.at_once * self._c_bytes])["addresses"]
        self._a, self._b, self._bias, self._c = addresses
        for address, pool in zip(addresses, pools, strict=False):
            warden.write(self._staging.address, pool.ctypes.data, pool.nbytes)
            warden.ask("upload", device=address, host=self._staging.address, size=pool.nbytes)

    def run(self, draws: Sequence[Draw]) -> Timed:  # noqa: D102 - see Rig
        n, fp8 = self._fresh.n, int(self._fresh.fp8)
        calls = [
            (
                *(self._config, fp8, self._a + 2 * draw.a_at, self._b + 16 * draw.b_at, self._bias + 2 * draw.bias_at, c),
                *(draw.scale, n, n, n),
            )
            for draw, c in zip(draws, range(self._c, self._c + len(draws) * self._c_bytes, self._c_bytes), strict=True)
        ]
        self._warden.ask("fill", device=self._c, half_word=POISON, count=len(draws) * self._c_bytes // 2)
        self._warden.ask("arm", calls=calls)
        _, wall_ns = self._warden.go()
        return Timed(_durations(self._warden.ask("durations").get("ns"), len(draws)), wall_ns)

    def rows(self, number: int, rows: np.typing.NDArray[np.intp]) -> Halves:  # noqa: D102 - see Rig
        found = np.empty((len(rows), self._fresh.n), np.float16)
        from_c = self._c + number * self._c_bytes
        pieces = [
            (self._staging.address + i * self._row_bytes, from_c + int(row) * self._row_bytes, self._row_bytes)
            for i, row in enumerate(rows)
        ]
        self._warden.ask("download", pieces=pieces)
        self._warden.read(found.ctypes.data, self._staging.address, found.nbytes)
        return found

    def whole(self, number: int) -> Halves:  # noqa: D102 - see Rig
        found = np.empty((self._fresh.n, self._fresh.n), np.float16)
        piece = (self._staging.address, self._c + number * self._c_bytes, self._c_bytes)
        self._warden.ask("download", pieces=[piece])
        self._warden.read(found.ctypes.data, self._staging.address, found.nbytes)
        return found

    def release(self) -> None:  # noqa: D102 - see Rig
        self._warden.ask("free")


def _durations(said: object, count: int) -> tuple[int, ...]:
    if (
        not isinstance(said, list)
        or len(said) != count
        or not all(isinstance(ns, int) and not isinstance(ns, bool) and 0 < ns < 1 << 53 for ns in said)
    ):
        raise BuildFailed(f"the process that runs the build says {str(said)[:80]} where {count} times in ns were asked")
    return tuple(said)
