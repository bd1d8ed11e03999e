"""A build as the harness sees it: held in a cell, asked through its warden, never loaded here."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from kernel.harness.memory import Place
from kernel.harness.sandbox_worker import ERRORS, Answer, SandboxWorker
from kernel.runtime.library import Config, UnknownConfig, format_config


class BuildHost(Protocol):
    """Who has the build: a warden, or this very process."""

    def ask(self, do: str, **words: object) -> Answer:
        """One request, one answer. Raises what the answer names."""

    def write(self, address: int, source: int, size: int) -> None:
        """Into the memory of the build's process."""

    def read(self, target: int, address: int, size: int) -> None:
        """Out of it."""


class InProcessHost:
    """The build in this very process: for a profiler that looks into one. Nothing that is said here is proof."""

    def __init__(self) -> None:
        self._worker = SandboxWorker()

    def ask(self, do: str, **words: object) -> Answer:
        """As `Keeper`."""
        answer = self._worker.answer(do, words)
        if "error" in answer:
            raise ERRORS[answer["error"]](answer["text"])
        return answer

    def write(self, address: int, source: int, size: int) -> None:
        """As `Keeper`."""
        ctypes.memmove(address, source, size)

    def read(self, target: int, address: int, size: int) -> None:
        """As `Keeper`."""
        ctypes.memmove(target, address, size)


class BuildProxy:
    """What `Library` is to the process that loads it. Raises as the cell's answers do (cell.ERRORS)."""

    def __init__(self, host: BuildHost, path: Path, target: str) -> None:
        self.host, self.path, self.target = host, path, target
        answer = host.ask("open", path=str(path), target=target)
        self.configs: tuple[Config, ...] = tuple(tuple(config) for config in answer["configs"])
        self.device: dict[str, Any] = {name: answer[name] for name in ("device", "compute_units") if name in answer}

    @property
    def is_on_device(self) -> bool:
        """A build for a GPU."""
        return self.target != "cpu"

    def index_of(self, config: Config) -> int:
        """Raises UnknownConfig with the list of what there is."""
        if config not in self.configs:
            there = "  ".join(map(format_config, self.configs))
            raise UnknownConfig(f"{format_config(config)} is not a config of this build; it has {there}")
        return self.configs.index(config)

    def config_for(self, m: int, n: int) -> int:
        """HIP_FORCE_CONFIG if it is set, else the build's choice for the shape."""
        return int(self.host.ask("choose", m=m, n=n)["config"])

    def row_blocks(self, config: int, m: int) -> int:
        """Tiles along M: the unit in which callers share out work."""
        return int(self.host.ask("row_blocks", config=config, m=m)["count"])

    def place(self, sizes: Sequence[int], *, guards: bool) -> tuple[Place, ...]:
        """Host memory of the cell, with or without guard pages."""
        places = self.host.ask("place", sizes=list(sizes), guards=guards)["places"]
        return tuple(Place(*each) for each in places)
