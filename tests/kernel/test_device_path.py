"""What the harness does on a GPU, on a stand-in: a CPU build whose device memory is the host's."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from kernel.harness import device_requests, packing, sandbox_worker, shapes, test_scaled_mm, timed_launch
from kernel.harness.build_proxy import BuildProxy
from kernel.harness.outside_clock import OutsideClock
from kernel.harness.reference import Limits
from kernel.harness.script_session import ScriptSession
from kernel.harness.timing import TimedSize
from kernel.runtime.formats import Fp8
from kernel.runtime.library import DeviceLibrary, Library
from tests.cheating.safeguards import Unsandboxed


class HostDevice(DeviceLibrary):
    """A CPU build that says it is a GPU's."""

    def __init__(self, path: Path, target: str) -> None:  # noqa: ARG002  the port's signature
        Library.__init__(self, path, "cpu")
        self.device_name, self.compute_units = "stand-in", 1

    def _declare(self) -> None:
        Library._declare(self)

    def check(self, error: int) -> None:
        Library.check(self, error)


class HostRuntime:
    """Device memory and events of the stand-in. `filled` are the bytes of each fill, `freed` how many were given back."""

    filled: ClassVar[list[int]] = []
    freed = 0

    def __init__(self, *_: object) -> None:
        self._memory: dict[int, ctypes.Array[ctypes.c_char]] = {}
        self._events: dict[int, int] = {}

    def alloc(self, size: int) -> int:
        block = ctypes.create_string_buffer(size)
        self._memory[ctypes.addressof(block)] = block
        return ctypes.addressof(block)

    def free(self, address: int) -> None:
        del self._memory[address]
        HostRuntime.freed += 1

    def to_device(self, device: int, host: int, size: int) -> None:
        ctypes.memmove(device, host, size)

    def to_host(self, host: int, device: int, size: int) -> None:
        ctypes.memmove(host, device, size)

    def fill(self, device: int, half_word: int, count: int) -> None:
        HostRuntime.filled.append(2 * count)
        ctypes.memmove(device, half_word.to_bytes(2, "little") * count, 2 * count)

    def wait(self) -> None:
        return

    def record(self, number: int) -> None:
        self._events[number] = time.monotonic_ns()

    def elapsed_ns(self, first: int, second: int) -> int:
        return self._events[second] - self._events[first]


@pytest.fixture(params=["sm_90", "gfx1151"])
def session(cpu_library: Library, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[ScriptSession]:
    monkeypatch.setattr(sandbox_worker, "open_library", HostDevice)
    monkeypatch.setattr(device_requests, "Runtime", HostRuntime)
    monkeypatch.setattr(timed_launch, "HEAD_START_BYTES", 4096)
    monkeypatch.setattr(timed_launch, "COLD_BYTES", 20_000)
    HostRuntime.filled.clear()
    supervisor = Unsandboxed()
    outside_clock = OutsideClock(supervisor, "cpu")  # type: ignore[arg-type]
    yield ScriptSession(BuildProxy(supervisor, cpu_library.path, request.param), supervisor, outside_clock)  # type: ignore[arg-type]
    packing.packing_of.cache_clear()


def test_a_case_passes(session: ScriptSession) -> None:
    case = shapes.Case(fp8=Fp8.E5M2, m=33, n=50, k=70, scale=0.5, bias=True)
    judgement = test_scaled_mm.check_case(session.build, case, Limits(), np.random.default_rng(1))
    assert judgement.failure is None


@pytest.mark.parametrize("extents", [(1, 64, 96), (64, 64, 64)])
def test_outputs_that_were_timed_are_right(session: ScriptSession, extents: tuple[int, int, int]) -> None:
    timed = TimedSize(session, 0, Fp8.E5M2, shapes.Extents(*extents), seed=3)
    assert len(timed.time(3).ns) == 3
    timed.check(Limits())
    timed.release()


def test_short_products_are_queued_behind_a_fill_timed_together_and_read_cold_weights(session: ScriptSession) -> None:
    timed = TimedSize(session, 0, Fp8.E5M2, shapes.Extents(5, 64, 96), seed=3)
    request = timed.time(timed_launch.SHORT_BATCH + 2)
    assert len(request.ns) == timed_launch.SHORT_BATCH + 2
    first, second = set(request.ns[: timed_launch.SHORT_BATCH]), set(request.ns[timed_launch.SHORT_BATCH :])
    assert len(first) == len(second) == 1, "a batch is timed as a whole, and each launch has its share"
    assert HostRuntime.filled.count(4096) == 2
    timed.check(Limits())
    freed = HostRuntime.freed
    timed.release()
    packed = 64 * 96 + 5 * 96  # with the slack of its windows
    assert HostRuntime.freed - freed == 4 + -(-20_000 // packed)
