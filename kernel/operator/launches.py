"""Launches a build on torch tensors: on the CPU, or on the current stream of a GPU."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from typing import Any, cast

import torch
from torch import Tensor

from kernel.operator import direct
from kernel.operator.builds import library_for
from kernel.operator.devices import target_of
from kernel.operator.packed import library_on, require_packed
from kernel.runtime import tables
from kernel.runtime.formats import Fp8
from kernel.runtime.library import CALL, Config, DeviceLibrary, Library

Launch = Callable[[int, Tensor, Tensor, float, Tensor | None, Tensor, int, int, int], None]
"""Takes b_dtype, a, b_prepacked, scale, bias, c, m, n, k, which have been checked, and computes c."""

MADE: dict[torch.device, Launch] = {}
"""The launches that `launch_on` has made: one for each device that was used."""


def launch_on(device: torch.device) -> Launch:
    """Return what launches on `device`. Raises ValueError for a device without a target, BuildError or LibraryError."""
    if device not in MADE:
        target = target_of(device)
        MADE[device] = _on_cpu() if target == "cpu" else on_gpu(device.index, target)
    return MADE[device]


def config_on(device: torch.device, m: int, n: int, k: int) -> Config:
    """Return the config that an M x N x K product on `device` takes now. Raises what `launch_on` does, or UnknownConfig."""
    library = library_on(device)
    return library.configs[choose(library, m, n, k)]


def choose(library: Library, m: int, n: int, k: int) -> int:
    """Return the index of the config of HIP_FORCE_CONFIG, or of what suits an M x N x K product: by a table if there is one.
    Raises UnknownConfig, BadTable.
    """
    return tables.choose(library, m, n, k).config


def _on_cpu() -> Launch:
    library = library_for("cpu")

    def launch(fp8: int, a: Tensor, b: Tensor, scale: float, bias: Tensor | None, c: Tensor, m: int, n: int, k: int) -> None:
        given = None if bias is None else bias.data_ptr()
        require_packed(library, b, n, k)
        config = choose(library, m, n, k)
        library.launch(config, Fp8(fp8), a.data_ptr(), b.data_ptr(), given, c.data_ptr(), scale, m, n, k)

    return launch


def on_gpu(ordinal: int, target: str, stream_teller: int | None = None) -> Launch:
    """Return what enqueues on the current stream of GPU `ordinal`, and neither waits nor allocates.

    `stream_teller` is the address of the C function that tells the stream, 0 or None for torch's.
    """
    with torch.cuda.device(ordinal):
        library = cast("DeviceLibrary", library_for(target, ordinal))
    enqueue, pack = library.enqueuer(), CALL.pack
    stream_of, current_device = torch._C._cuda_getCurrentRawStream, torch._C._cuda_getDevice
    address = ctypes.cast(cast("Any", enqueue), ctypes.c_void_p).value or 0
    teller = stream_teller or direct.stream_teller()
    chosen: dict[tuple[int, int, int, int, int], int] = {}

    def launch(fp8: int, a: Tensor, b: Tensor, scale: float, bias: Tensor | None, c: Tensor, m: int, n: int, k: int) -> None:
        shape = m, n, k, b.size(0), fp8
        config = chosen.get(shape)
        if config is None:
            require_packed(library, b, n, k)
            config = choose(library, m, n, k)
            if not os.environ.get("HIP_FORCE_CONFIG"):  # which goes before that of a call
                chosen[shape] = config
                direct.remember(a, b, fp8, config, ordinal, address, teller)
        addresses = a.data_ptr(), b.data_ptr(), 0 if bias is None else bias.data_ptr(), c.data_ptr()
        call = pack(config, fp8, *addresses, scale, m, n, k, stream_of(ordinal))
        if current_device() == ordinal:
            error = enqueue(call)
        else:
            with torch.cuda.device(ordinal):
                error = enqueue(call)
        if error:
            library.config_for(m, n)  # raises if HIP_FORCE_CONFIG is what is wrong
            library.check(error)

    return launch
