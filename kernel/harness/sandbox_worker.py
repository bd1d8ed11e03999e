"""The process that loads a build: it answers requests line by line and holds no secret that a build could read.

Its answers are no proof, because the build shares its memory. The supervisor (supervisor.py) reads outputs and clocks itself.
No numpy here: the worker is forked before its parent loads numpy.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from kernel.harness.buffers import OperandBuffers
from kernel.harness.confine import confine
from kernel.harness.memory import Block, guarded, side_by_side
from kernel.harness.syscall_filter import forbid_processes
from kernel.runtime.library import DeviceLibrary, LaunchError, Library, LibraryError, UnknownConfig, open_library

ERRORS: dict[str, type[Exception]] = {"library": LibraryError, "launch": LaunchError, "config": UnknownConfig}
"""Exception of each name that an answer's `error` may have."""
DEVICES = "/dev"
Answer = dict[str, Any]
Call = tuple[int, int, int, int, int | None, int, float, int, int, int]
"""Arguments of a launch without its row blocks: config, b_dtype, a, b, bias, c, scale, m, n, k."""


class SandboxWorker:
    """Answers requests about one build. Addresses are those of this process, or of the device."""

    def __init__(self) -> None:
        self._build: Library
        self._blocks: list[Block] = []
        self._buffers: list[OperandBuffers] = []
        self.go: Callable[[bytes], int] = self._go
        self._can: dict[str, Callable[..., Answer]] = {
            "confine": self._confine,
            "open": self._open,
            "choose": self._choose,
            "row_blocks": lambda config, m: {"count": self._build.row_blocks(config, m)},
            "packed_bytes": lambda n, k: {"size": self._build.packed_bytes(n, k)},
            "prepack": self._prepack,
            "place": self._place,
            "launch": self._launch,
            "allocate_buffers": self._allocate_buffers,
            "arm_buffers": self._arm_buffers,
            "go": lambda words: {"ns": self.go(words.encode())},
            "forget": self._forget,
        }

    def answer_line(self, line: bytes) -> bytes:
        """Answer one request line with one line. `gNUMBER WORDS` means `go`; it is kept short because its time is measured."""
        if line.startswith(b"g"):
            number, _, words = line[1:].partition(b" ")
            try:
                return b'[%s,{"ns":%d}]\n' % (number, self.go(words))
            except tuple(ERRORS.values()) as error:
                return json.dumps([int(number), _refusal(error)]).encode() + b"\n"
        number, do, words = json.loads(line)
        return json.dumps([number, self.answer(do, words)]).encode() + b"\n"

    def answer(self, do: str, words: dict[str, Any]) -> Answer:
        """Return the answer to one request; it has `error` and `text` when the build refused."""
        try:
            return self._can[do](**words)
        except tuple(ERRORS.values()) as error:
            return _refusal(error)

    def _confine(self, target: str) -> Answer:
        """Confine this process. Only a CPU build is kept from starting processes: a GPU's runtime may need to."""
        held = confine() if target == "cpu" else confine((DEVICES,), names_threads=True)
        return {"confinement": held + ", forks nothing" if target == "cpu" and forbid_processes() else held}

    def _open(self, path: str, target: str) -> Answer:
        build = self._build = open_library(Path(path), target)
        device: Answer = {}
        if isinstance(build, DeviceLibrary):
            from kernel.harness.device_requests import DeviceRequests

            requests = DeviceRequests(build, target)
            self._can |= requests.can()
            self.go = requests.go
            device = {"device": build.device_name, "compute_units": build.compute_units}
        return {"configs": build.configs, **device}

    def _choose(self, m: int, n: int) -> Answer:
        return {"config": self._build.config_for(m, n)}

    def _place(self, sizes: Sequence[int], guards: bool) -> Answer:
        blocks = [guarded(size) for size in sizes] if guards else [side_by_side(sizes)]
        self._blocks += blocks
        return {"places": [(place.address, place.size, place.canary) for block in blocks for place in block.places]}

    def _prepack(self, b: int, packed: int, n: int, k: int) -> Answer:
        self._build.prepack(b, packed, n, k)
        return {}

    def _forget(self, places: Sequence[int]) -> Answer:
        """Free the blocks in which the addresses `places` begin."""
        self._blocks = [block for block in self._blocks if not any(place.address in places for place in block.places)]
        return {}

    def _launch(self, call: Call, blocks: Sequence[tuple[int, int]] | None, threads: int) -> Answer:
        """Launch all rows, or each range of row blocks [first, end), with `threads` threads. Raises LaunchError."""
        waiting: list[tuple[int, int] | None] = list(reversed(blocks)) if blocks else [None]
        failed: list[LaunchError] = []

        def work() -> None:
            with contextlib.suppress(IndexError):
                while not failed:
                    rows = waiting.pop()
                    try:
                        self._build.launch(*call, rows)  # type: ignore[arg-type]  # b_dtype as a number
                    except LaunchError as error:
                        failed.append(error)

        helpers = [threading.Thread(target=work) for _ in range(threads - 1)]
        for helper in helpers:
            helper.start()
        work()
        for helper in helpers:
            helper.join()
        if failed:
            raise failed[0]
        return {}

    def _allocate_buffers(self, sizes: Sequence[int]) -> Answer:
        buffers = OperandBuffers(sizes)
        self._buffers.append(buffers)
        return {"buffers": len(self._buffers) - 1, "addresses": buffers.addresses}

    def _arm_buffers(self, buffers: int, call: Sequence[int]) -> Answer:
        """Set the launch that `go` makes on these buffers: config, b_dtype, m, n, k."""
        config, fp8, m, n, k = call
        self._buffers[buffers].armed = config, fp8, m, n, k, (0, self._build.row_blocks(config, m))
        return {}

    def _go(self, words: bytes) -> int:
        """Launch; `words` are the number of the buffers and the scale. Return the ns, or 0 if those buffers are not armed."""
        buffers, scale = words.split()
        chosen = self._buffers[int(buffers)]
        return chosen.launch(self._build, float(scale)) if chosen.armed is not None else 0


def _refusal(error: Exception) -> Answer:
    return {"error": next(name for name, kind in ERRORS.items() if isinstance(error, kind)), "text": str(error)}
