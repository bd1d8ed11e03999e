"""Calls on a build that another process has loaded: every method is a request to the sandbox worker."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from kernel.harness.memory import Place
from kernel.harness.sandbox_worker import ERRORS, Answer, SandboxWorker
from kernel.runtime.library import Config, UnknownConfig, format_config


class BuildHost(Protocol):
    """Access to the process that loaded the build: a Supervisor, or an InProcessHost when that is this process."""

    def ask(self, do: str, **words: object) -> Answer:
        """Send the request `do` and return its answer. Raises the exception of `ERRORS` that the answer names."""

    def write(self, address: int, source: int, size: int) -> None:
        """Copy `size` bytes from `source` here to `address` in the build's process."""

    def read(self, target: int, address: int, size: int) -> None:
        """Copy `size` bytes from `address` in the build's process to `target` here."""


class InProcessHost:
    """Loads the build in this process, where a profiler finds it. A build can change anything here: results prove nothing."""

    def __init__(self) -> None:
        self._worker = SandboxWorker()

    def ask(self, do: str, **words: object) -> Answer:
        """Answer the request `do` in this process. Raises the exception of `ERRORS` that the answer names."""
        answer = self._worker.answer(do, words)
        if "error" in answer:
            raise ERRORS[answer["error"]](answer["text"])
        return answer

    def write(self, address: int, source: int, size: int) -> None:
        """Copy `size` bytes from `source` to `address`."""
        ctypes.memmove(address, source, size)

    def read(self, target: int, address: int, size: int) -> None:
        """Copy `size` bytes from `address` to `target`."""
        ctypes.memmove(target, address, size)


class BuildProxy:
    """Offers the methods of runtime.library.Library for a build in another process. Each raises the exceptions of `ERRORS`."""

    def __init__(self, host: BuildHost, path: Path, target: str) -> None:
        self.host, self.path, self.target = host, path, target
        answer = host.ask("open", path=str(path), target=target)
        self.configs: tuple[Config, ...] = tuple(tuple(config) for config in answer["configs"])
        self.device: dict[str, Any] = {name: answer[name] for name in ("device", "compute_units") if name in answer}

    @property
    def is_on_device(self) -> bool:
        """Whether the build is for a GPU."""
        return self.target != "cpu"

    def index_of(self, config: Config) -> int:
        """Return the number of `config` in this build. Raises UnknownConfig with the list of its configs."""
        if config not in self.configs:
            there = "  ".join(map(format_config, self.configs))
            raise UnknownConfig(f"{format_config(config)} is not a config of this build; it has {there}")
        return self.configs.index(config)

    def config_for(self, m: int, n: int) -> int:
        """Return the config of HIP_FORCE_CONFIG, or the build's choice for an M x N output. Raises UnknownConfig."""
        return int(self.host.ask("choose", m=m, n=n)["config"])

    def row_blocks(self, config: int, m: int) -> int:
        """Return the number of tiles along M: callers divide work among threads by ranges of them."""
        return int(self.host.ask("row_blocks", config=config, m=m)["count"])

    def packed_bytes(self, n: int, k: int) -> int:
        """Return the size of a packed B (k, n), by the build."""
        return int(self.host.ask("packed_bytes", n=n, k=k)["size"])

    def place(self, sizes: Sequence[int], *, guards: bool) -> tuple[Place, ...]:
        """Allocate a place of each of `sizes` bytes in the host memory of the build's process, with or without guard pages."""
        places = self.host.ask("place", sizes=list(sizes), guards=guards)["places"]
        return tuple(Place(*each) for each in places)
