"""A GPU for the operator where there is none: its launches run on the CPU, or do nothing."""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from unittest.mock import patch

import torch

from kernel.operator import builds, direct, launches
from kernel.runtime.build import ZIG_CPP

CPU = torch.device("cpu")
STREAM = 0x5000


class StandIn:
    """A build that says it is for sm_90. `empty`: do its launches do nothing?"""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "stand_in.so"
        source = Path(__file__).with_name("stand_in.cpp")
        subprocess.run([*ZIG_CPP, "-march=native", str(source), "-o", str(self.path)], check=True, capture_output=True)
        self._library = ctypes.CDLL(str(self.path))
        self.entered: list[int] = []
        """Devices that were made the current one."""

    def _number(self, name: str) -> ctypes.c_int:
        return ctypes.c_int.in_dll(self._library, f"stand_in_{name}")

    @property
    def opened(self) -> int:
        """Return the number of the device that was opened, -1 if none was."""
        return self._number("opened").value

    @property
    def config(self) -> int:
        """Return the index of the config of the last launch."""
        return self._number("config").value

    @property
    def stream(self) -> int | None:
        """Return the stream of the last launch."""
        return ctypes.c_void_p.in_dll(self._library, "stand_in_stream").value

    @contextmanager
    def _enter(self, ordinal: int) -> Iterator[None]:
        self.entered.append(ordinal)
        yield

    def be_empty(self, empty: bool = True) -> None:
        """Do nothing in launches from now on, or compute in them."""
        self._number("empty").value = empty

    def fail(self, error: int) -> None:
        """Let launches return `error`, an ErrorCode of kernel/hip/host.h, from now on; 0 for none."""
        self._number("error").value = error

    @contextmanager
    def runs_for_the_cpu(self, ordinal: int = 0, current: int = 0) -> Iterator[launches.Launch]:
        """Launch CPU tensors as if they lay on GPU `ordinal` while GPU `current` is the current one."""
        with ExitStack() as stack:
            stack.enter_context(patch.object(torch.cuda, "device", self._enter))
            stack.enter_context(patch.object(torch._C, "_cuda_getDevice", lambda: current, create=True))
            stack.enter_context(patch.object(torch._C, "_cuda_getCurrentRawStream", lambda of: STREAM + of, create=True))
            stack.enter_context(patch.dict(os.environ, {builds.VARIABLE: f"{self.path}{os.pathsep}{builds.kept('cpu')}"}))
            teller = ctypes.cast(self._library.stand_in_current_stream, ctypes.c_void_p).value
            launch = launches.on_gpu(ordinal, "sm_90", teller)
            stack.callback(direct.forget)
            stack.enter_context(patch.dict(launches.MADE, {CPU: launch}))
            yield launch
