"""Requests that the sandbox worker answers for a GPU build: device memory, and batches of launches between events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from expctl.harness.device import Runtime
from kernel.runtime.library import DeviceLibrary, LaunchError

Answer = dict[str, Any]


class DeviceRequests:
    """Answers the requests that only a GPU build has, and those that a GPU build handles differently."""

    def __init__(self, build: DeviceLibrary, target: str) -> None:
        self._build, self._runtime = build, Runtime("cuda" if target == "sm_90" else "hip", LaunchError)
        self._armed: list[Any] = []
        self._head_start: tuple[int, int] | None = None

    def can(self) -> dict[str, Callable[..., Answer]]:
        """Return a dict from the name of each request to the function that answers it."""
        return {
            "alloc": self._alloc,
            "upload": self._upload,
            "download": self._download,
            "fill": self._fill,
            "launch": self._launch,
            "prepack": self._prepack,
            "arm": self._arm,
            "durations": self._durations,
            "free": self._free,
        }

    def _alloc(self, sizes: Sequence[int]) -> Answer:
        return {"addresses": [self._runtime.alloc(size) for size in sizes]}

    def _free(self, addresses: Sequence[int]) -> Answer:
        for address in addresses:
            self._runtime.free(address)
        return {}

    def _upload(self, device: int, host: int, size: int) -> Answer:
        self._runtime.to_device(device, host, size)
        return {}

    def _download(self, pieces: Sequence[tuple[int, int, int]]) -> Answer:
        """Copy pieces (host address, device address, bytes) to the host."""
        for host, device, size in pieces:
            self._runtime.to_host(host, device, size)
        return {}

    def _fill(self, device: int, half_word: int, count: int) -> Answer:
        self._runtime.fill(device, half_word, count)
        self._runtime.wait()
        return {}

    def _launch(self, call: Sequence[Any], blocks: Sequence[tuple[int, int]] | None, threads: int) -> Answer:  # noqa: ARG002
        for rows in blocks or [(0, self._build.row_blocks(call[0], call[7]))]:
            self._build.launch(*(*call, rows))
        self._runtime.wait()
        return {}

    def _prepack(self, b: int, packed: int, n: int, k: int) -> Answer:
        self._build.prepack(b, packed, n, k)
        self._runtime.wait()
        return {}

    def _arm(self, calls: Sequence[Sequence[Any]], head_start: tuple[int, int] | None) -> Answer:
        """Set the launches that the next `go` makes, and record the two events of each once, so that they exist. While the
        device fills `head_start` (address, half words) before the first launch, the host queues the rest.
        """
        self._head_start = head_start
        self._armed = [(*call, (0, self._build.row_blocks(call[0], call[7]))) for call in calls]
        for number in range(2 * len(calls)):
            self._runtime.record(number)
        self._runtime.wait()
        return {}

    def go(self, _: bytes) -> int:
        """Make the armed launches, wait for them and return 0; the request `durations` gets their times. Raises LaunchError."""
        if self._head_start is not None:
            address, count = self._head_start
            self._runtime.fill(address, 0, count)
        for number, call in enumerate(self._armed):
            self._runtime.record(2 * number)
            self._build.launch(*call)
            self._runtime.record(2 * number + 1)
        self._runtime.wait()
        return 0

    def _durations(self) -> Answer:
        count = range(len(self._armed))
        return {"ns": [self._runtime.elapsed_ns(2 * number, 2 * number + 1) for number in count]}
