"""Which config a shape takes by the tables of kernel/hip/configs, where there are some for a target.

The operator and the harness look up here, so that both take the same. A table that was made with another compiler, driver or
device is not followed: the build chooses, as it does where there is no table.
"""

from __future__ import annotations

import functools
import importlib.metadata
import os
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple, Protocol

from expctl.tables.facts import made_here
from expctl.tables.folder import Folder, read_folder
from expctl.tables.operations import Settings, config_text
from expctl.tables.table import StaleTable
from kernel.runtime.build import SOURCE
from kernel.runtime.library import Config, format_config, parse_config

CONFIGS = SOURCE / "configs"
OPERATION = "scaled_mm_a16w8_e5m2"


class Build(Protocol):
    """A build of the kernel: a Library, or a proxy of one."""

    target: str
    configs: tuple[Config, ...]

    def index_of(self, config: Config) -> int: ...  # noqa: D102 - see Library
    def config_for(self, m: int, n: int) -> int: ...  # noqa: D102 - see Library


class Chosen(NamedTuple):
    """The number of a config in its build; `place`: the file and bucket that say so, whether it was tuned; "" without one."""

    config: int
    place: str


def choose(build: Build, m: int, n: int, k: int, configs: Path = CONFIGS) -> Chosen:
    """Return the config of HIP_FORCE_CONFIG, else of the table for an M x N x K product, else of the build. Raises
    UnknownConfig, BadTable.
    """
    found = tables_for(build.target, build.configs, configs)
    if os.environ.get("HIP_FORCE_CONFIG") or found is None:
        return Chosen(build.config_for(m, n), "")
    if isinstance(found, str):
        return Chosen(build.config_for(m, n), f"tables refused: {found}")
    choice = found.look_up(m, n, k)
    index = build.index_of(parse_config(choice.config)) if choice.config else build.config_for(m, n)
    return Chosen(index, choice.place)


@functools.cache
def tables_for(target: str, built: tuple[Config, ...], configs: Path = CONFIGS) -> Folder | str | None:
    """Return the tables of a target whose build has the configs `built`; None for none, a sentence why they are stale. Raises
    BadTable.
    """
    names = {format_config(each) for each in built}

    def missing(settings: Settings) -> str:
        return "" if config_text(settings) in names else f"{config_text(settings)}, not in the build"

    folder = read_folder(configs / target / "hip" / "gemm" / OPERATION, also=missing)
    if not folder.tables:
        return None
    try:
        here = made_here(target, {_tool(target): _version(_tool(target))})
        folder.check_fresh({name: fact for name, fact in here.items() if fact})
    except StaleTable as error:
        return str(error)
    return folder


def _tool(target: str) -> str:
    return {"cpu": "ziglang", "sm_90": "nvcc"}.get(target, "hipcc")


def _version(tool: str) -> str:
    """Return what a compiler says of its version; "" where it isn't installed."""
    try:
        if tool == "ziglang":
            return importlib.metadata.version(tool)
        path = shutil.which(tool)
        return subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout if path else ""
    except (OSError, importlib.metadata.PackageNotFoundError):
        return ""
