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
        """Set the launches that the next `go` makes, and record their events once, so that they exist: two for each launch.
        With `head_start` (address, half words) there are two in all, with nothing between the launches, so that one may begin
        while the one before it ends, as in a user's stream; the host queues them all while the device fills that memory.
        """
        self._head_start = head_start
        self._armed = [(*call, (0, self._build.row_blocks(call[0], call[7]))) for call in calls]
        for number in range(2 if head_start else 2 * len(calls)):
            self._runtime.record(number)
        self._runtime.wait()
        return {}

    def go(self, _: bytes) -> int:
        """Make the armed launches, wait for them and return 0; the request `durations` gets their times. Raises LaunchError."""
        if self._head_start is not None:
            address, half_words = self._head_start
            self._runtime.fill(address, 0, half_words)
            self._runtime.record(0)
            for call in self._armed:
                self._build.launch(*call)
            self._runtime.record(1)
        else:
            for number, call in enumerate(self._armed):
                self._runtime.record(2 * number)
                self._build.launch(*call)
                self._runtime.record(2 * number + 1)
        self._runtime.wait()
        return 0

    def _durations(self) -> Answer:
        """Return the ns of each armed launch; of launches that were timed together each has taken its share."""
        count = len(self._armed)
        if self._head_start is not None:
            return {"ns": [max(1, self._runtime.elapsed_ns(0, 1) // count)] * count}
        return {"ns": [self._runtime.elapsed_ns(2 * number, 2 * number + 1) for number in range(count)]}
