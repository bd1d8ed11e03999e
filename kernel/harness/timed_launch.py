"""Makes timed launches: writes new inputs and poisons C before each, and reads outputs after it."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from expctl.harness.report import BuildFailed
from kernel.harness.build_proxy import BuildProxy
from kernel.harness.input_stream import Draw, InputStream
from kernel.harness.operands import bytes_of
from kernel.harness.reference import POISON
from kernel.harness.supervisor import Supervisor
from kernel.runtime.formats import Bytes, Halves

MOST_OUTPUT_BYTES = 4 << 30
COLD_BYTES = 192 << 20
"""Bytes of packed B that launches read in turn, so that none finds its own in the L2 cache (50 MB on an H200)."""
SHORT_FLOP, SHORT_BATCH, HEAD_START_BYTES = 10**11, 8, 512 << 20
"""Of a shorter product the host starts launches more slowly than a GPU ends them. So a batch of few of them begins with filling
that much memory, which takes .2 ms on an H200: it is queued as a whole before the first one runs. It is timed as a whole, too:
events between launches of 10 us would take part of what is timed, and keep one from beginning while the one before it ends.
"""
STEP_ON_DEVICE = 128
"""Windows of A begin at multiples of this many values: 256 bytes, to which GPU memory is aligned."""


@dataclass(frozen=True, slots=True)
class TimedBatch:
    """One batch of launches: ns of each by the build's own clock, and ns of all by the supervisor's."""

    ns: tuple[int, ...]
    wall_ns: int


class TimedLauncher(ABC):
    """Runs batches of timed launches; `rows` and `whole` read an output of the last batch, by the number of its launch."""

    def __init__(self, build: BuildProxy, supervisor: Supervisor, config: int, stream: InputStream) -> None:
        self._build, self._supervisor, self._config, self._stream = build, supervisor, config, stream
        self.batch_size = 1

    @abstractmethod
    def run(self, draws: Sequence[Draw]) -> TimedBatch:
        """Launch once for each of at most `batch_size` draws. Raises BuildFailed."""

    @abstractmethod
    def rows(self, number: int, rows: np.typing.NDArray[np.intp]) -> Halves:
        """Return these rows of output `number`, (len(rows), n)."""

    @abstractmethod
    def whole(self, number: int) -> Halves:
        """Return a copy of output `number`, (m, n)."""

    @abstractmethod
    def release(self) -> None:
        """Free the device memory."""


class CpuTimedLauncher(TimedLauncher):
    """Launches on the CPU one at a time, with the operands at the same addresses each time."""

    def __init__(self, build: BuildProxy, supervisor: Supervisor, config: int, stream: InputStream) -> None:
        super().__init__(build, supervisor, config, stream)
        m, n, k = stream.extents
        answer = supervisor.ask("allocate_buffers", sizes=[2 * m * k, build.packed_bytes(n, k), 2 * m * n, 2 * n])
        self._buffers = answer["buffers"]
        self._a, self._b, self._c, self._bias = answer["addresses"]
        supervisor.ask("arm_buffers", buffers=self._buffers, call=(config, int(stream.fp8), m, n, k))
        self._output = np.empty((m, n), np.float16)
        self._poison = np.full((m, n), POISON, np.uint16)

    def run(self, draws: Sequence[Draw]) -> TimedBatch:  # noqa: D102 - see TimedLauncher
        (draw,) = draws
        stream = self._stream
        self._write(self._c, bytes_of(self._poison))
        self._write(self._bias, bytes_of(stream.bias(draw)))
        self._write(self._b, bytes_of(stream.packed(draw)))
        self._write(self._a, bytes_of(stream.a(draw)))
        answer, wall_ns = self._supervisor.go(b"%d %r" % (self._buffers, draw.scale))
        self._supervisor.read(self._output.ctypes.data, self._c, self._output.nbytes)
        return TimedBatch(_durations([answer.get("ns")], 1), wall_ns)

    def _write(self, address: int, values: Bytes) -> None:
        self._supervisor.write(address, values.ctypes.data, values.nbytes)

    def rows(self, number: int, rows: np.typing.NDArray[np.intp]) -> Halves:  # noqa: ARG002, D102 - see TimedLauncher
        return self._output if len(rows) == len(self._output) else self._output[rows]

    def whole(self, number: int) -> Halves:  # noqa: ARG002, D102 - see TimedLauncher
        return self._output.copy()

    def release(self) -> None:  # noqa: D102 - see TimedLauncher
        return


class DeviceTimedLauncher(TimedLauncher):
    """Launches on a GPU in batches: each gets other pointers into the input pools on the device, and a C of its own."""

    def __init__(self, build: BuildProxy, supervisor: Supervisor, config: int, stream: InputStream) -> None:
        super().__init__(build, supervisor, config, stream)
        m, n, _ = stream.extents
        self._row_bytes, self._c_bytes = 2 * n, 2 * m * n
        is_short = stream.extents.flop < SHORT_FLOP
        self.batch_size = SHORT_BATCH if is_short else max(1, min(64, MOST_OUTPUT_BYTES // self._c_bytes))
        a, b, bias = (bytes_of(pool) for pool in (stream.a_pool, stream.packed_pool, stream.bias_pool))
        pools = [a, bias, *[b] * min(self.batch_size, -(-COLD_BYTES // b.nbytes))]
        (self._staging,) = build.place([max(*(pool.nbytes for pool in pools), self._c_bytes)], guards=False)
        sizes = [*(pool.nbytes for pool in pools), self.batch_size * self._c_bytes, HEAD_START_BYTES if is_short else 16]
        addresses = supervisor.ask("alloc", sizes=sizes)["addresses"]
        self._taken: list[int] = addresses
        self._a, self._bias, *self._b, self._c, head_start = addresses
        self._head_start = (head_start, HEAD_START_BYTES // 2) if is_short else None
        for address, pool in zip(addresses, pools, strict=False):
            supervisor.write(self._staging.address, pool.ctypes.data, pool.nbytes)
            supervisor.ask("upload", device=address, host=self._staging.address, size=pool.nbytes)

    def run(self, draws: Sequence[Draw]) -> TimedBatch:  # noqa: D102 - see TimedLauncher
        fp8 = int(self._stream.fp8)
        calls = [
            (
                *(self._config, fp8, self._a + 2 * draw.a_at, b + 16 * draw.b_at, self._bias + 2 * draw.bias_at),
                *(self._c + number * self._c_bytes, draw.scale, *self._stream.extents),
            )
            for number, (draw, b) in enumerate(zip(draws, itertools.cycle(self._b), strict=False))
        ]
        self._supervisor.ask("fill", device=self._c, half_word=POISON, count=len(draws) * self._c_bytes // 2)
        self._supervisor.ask("arm", calls=calls, head_start=self._head_start)
        _, wall_ns = self._supervisor.go()
        return TimedBatch(_durations(self._supervisor.ask("durations").get("ns"), len(draws)), wall_ns)

    def rows(self, number: int, rows: np.typing.NDArray[np.intp]) -> Halves:  # noqa: D102 - see TimedLauncher
        found = np.empty((len(rows), self._stream.extents.n), np.float16)
        from_c = self._c + number * self._c_bytes
        pieces = [
            (self._staging.address + i * self._row_bytes, from_c + int(row) * self._row_bytes, self._row_bytes)
            for i, row in enumerate(rows)
        ]
        self._supervisor.ask("download", pieces=pieces)
        self._supervisor.read(found.ctypes.data, self._staging.address, found.nbytes)
        return found

    def whole(self, number: int) -> Halves:  # noqa: D102 - see TimedLauncher
        m, n, _ = self._stream.extents
        found = np.empty((m, n), np.float16)
        piece = (self._staging.address, self._c + number * self._c_bytes, self._c_bytes)
        self._supervisor.ask("download", pieces=[piece])
        self._supervisor.read(found.ctypes.data, self._staging.address, found.nbytes)
        return found

    def release(self) -> None:  # noqa: D102 - see TimedLauncher
        self._supervisor.ask("free", addresses=self._taken)


def _durations(said: object, count: int) -> tuple[int, ...]:
    if (
        not isinstance(said, list)
        or len(said) != count
        or not all(isinstance(ns, int) and not isinstance(ns, bool) and 0 < ns < 1 << 53 for ns in said)
    ):
        raise BuildFailed(f"the process that runs the build says {str(said)[:80]} where {count} times in ns were asked")
    return tuple(said)
