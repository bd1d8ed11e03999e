"""Calls the C interface of a build (kernel/hip/host.h) through ctypes."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # it needs numpy, which the sandbox worker has not
    from kernel.runtime.formats import Fp8

Config = tuple[int, int, int, int, int, int]
"""(warps_m, warps_n, unroll_k, stages, repeat_m, repeat_n)"""

ABI_VERSION = 2
MACHINES = {"cpu": 0, "sm_90": 1, "gfx1151": 2}
WINNER: Config = (1, 8, 2, 2, 8, 2)
CALL = struct.Struct("@iiPPPPfiiiP")
"""What scaled_mm_enqueue takes: config, b_dtype, a, b, bias, c, scale, m, n, k, stream (kernel/hip/host.h)."""


class LibraryError(Exception):
    """The artifact can't be loaded, or isn't a build of this interface for this target."""


class LaunchError(Exception):
    """The library refused a call, or the device failed."""


class UnknownConfig(Exception):
    """A config that the build doesn't have was asked for."""


def parse_config(text: str) -> Config:
    """Parse a config of the kernel, six numbers such as "1,8,2,2,8,2"; raises ValueError."""
    numbers = [int(word) for word in text.split(",")]
    if len(numbers) != 6:
        raise ValueError(f"a config is six numbers such as 1,8,2,2,8,2, found {text!r}")
    return (numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5])


def format_config(config: Sequence[int]) -> str:
    """Write a config as "1,8,2,2,8,2"."""
    return ",".join(map(str, config))


class Library:
    """A loaded build. Pointers are integers: host addresses for the CPU, device addresses for a GPU. Raises LibraryError."""

    def __init__(self, path: Path, target: str) -> None:
        try:
            self._c = ctypes.CDLL(str(path.resolve()))
            version, machine = self._c.scaled_mm_abi_version(), self._c.scaled_mm_machine()
            if version != ABI_VERSION:
                raise LibraryError(f"{path}: interface version {version}, expected {ABI_VERSION}")
            if machine != MACHINES[target]:
                built_for = next((name for name, number in MACHINES.items() if number == machine), f"machine {machine}")
                raise LibraryError(f"{path}: built for {built_for}, expected {target}")
            self._declare()
        except (OSError, AttributeError) as error:
            raise LibraryError(f"{path}: {error}") from error
        self.target, self.path = target, path
        self.configs: tuple[Config, ...] = tuple(self._config(i) for i in range(self._c.scaled_mm_config_count()))

    def _declare(self) -> None:
        pointer, integer = ctypes.c_void_p, ctypes.c_int
        self._c.scaled_mm_config.argtypes = [integer, ctypes.POINTER(integer)]
        self._c.scaled_mm_row_blocks.argtypes = [integer, integer]
        self._c.scaled_mm_config_for.argtypes = [integer, integer]
        self._c.scaled_mm_error_text.argtypes = [integer]
        self._c.scaled_mm_error_text.restype = ctypes.c_char_p
        self._c.scaled_mm_packed_bytes.argtypes = [integer, integer]
        self._c.scaled_mm_packed_bytes.restype = ctypes.c_longlong
        self._c.scaled_mm_prepack.argtypes = [pointer, pointer, integer, integer, pointer]
        self._c.scaled_mm_launch.argtypes = [integer, integer, *[pointer] * 4, ctypes.c_float, *[integer] * 5]

    def _config(self, index: int) -> Config:
        numbers = (ctypes.c_int * 6)()
        self.check(self._c.scaled_mm_config(index, numbers))
        return (numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5])

    def check(self, error: int) -> None:
        """Raise LaunchError unless `error` is 0."""
        if error:
            raise LaunchError(f"error {error}: {self._c.scaled_mm_error_text(error).decode()}")

    def index_of(self, config: Config) -> int:
        """Return the number of `config` in this build. Raises UnknownConfig with the list of its configs."""
        if config not in self.configs:
            raise UnknownConfig(self._unknown(format_config(config)))
        return self.configs.index(config)

    def config_for(self, m: int, n: int) -> int:
        """Return the config of HIP_FORCE_CONFIG, or the build's choice for an M x N output. Raises UnknownConfig."""
        index: int = self._c.scaled_mm_config_for(m, n)
        if index < 0:
            raise UnknownConfig(self._unknown("HIP_FORCE_CONFIG"))
        return index

    def _unknown(self, what: str) -> str:
        return f"{what} is not a config of this build; it has {'  '.join(map(format_config, self.configs))}"

    def row_blocks(self, config: int, m: int) -> int:
        """Return the number of tiles along M in an output of `m` rows; callers give each thread a range of them."""
        count: int = self._c.scaled_mm_row_blocks(config, m)
        return count

    def packed_bytes(self, n: int, k: int) -> int:
        """Return the size of the prepacked B of a (k, n) matrix in bytes."""
        size: int = self._c.scaled_mm_packed_bytes(n, k)
        return size

    def prepack(self, b: int, packed: int, n: int, k: int, stream: int | None = None) -> None:
        """Write the prepacked B at `packed` from fp8 codes (k, n) at `b`. Returns when done on the CPU, at once on a GPU: it
        works on `stream`, or on the default one. Raises LaunchError.
        """
        self.check(self._c.scaled_mm_prepack(b, packed, n, k, stream))

    def launch(
        self,
        config: int,
        fp8: Fp8,
        a: int,
        b: int,
        bias: int | None,
        c: int,
        scale: float,
        m: int,
        n: int,
        k: int,
        row_blocks: tuple[int, int] | None = None,
    ) -> None:
        """Compute C, or its row blocks (tiles along M) [first, end). Returns when done on the CPU, at once on a GPU.

        `a` is (M, K) fp16, `b` as `prepack` wrote it, `bias` (N,) fp16 or None, `c` (M, N) fp16.
        Raises LaunchError.
        """
        first, end = row_blocks or (0, self.row_blocks(config, m))
        self.check(self._c.scaled_mm_launch(config, int(fp8), a, b, bias, c, scale, m, n, k, first, end))


class DeviceLibrary(Library):
    """A loaded GPU build, with the GPU's device `ordinal` opened. Raises LibraryError without a usable device."""

    def __init__(self, path: Path, target: str, ordinal: int = 0) -> None:
        super().__init__(path, target)
        try:
            self.check(self._c.scaled_mm_device_open(ordinal))
            self.device_name, self.compute_units = self._describe(ordinal)
        except LaunchError as error:
            raise LibraryError(f"no usable device: {error}") from error

    def _declare(self) -> None:
        super()._declare()
        integer = ctypes.c_int
        self._c.scaled_mm_device_error.restype = ctypes.c_char_p
        self._c.scaled_mm_device_open.argtypes = [integer]
        self._c.scaled_mm_device_describe.argtypes = [integer, ctypes.c_char_p, integer, ctypes.POINTER(integer)]

    def enqueuer(self) -> Callable[[bytes], int]:
        """Return scaled_mm_enqueue, which takes what CALL packs, launches on a stream and returns an error code for `check`.

        Raises LibraryError if this build is too old to have it.
        """
        try:
            enqueue: Callable[[bytes], int] = self._c.scaled_mm_enqueue
        except AttributeError as error:
            raise LibraryError(f"{self.path}: {error}; build it anew") from error
        self._c.scaled_mm_enqueue.argtypes = [ctypes.c_char_p]
        return enqueue

    def check(self, error: int) -> None:
        """Raise LaunchError with the device's message unless `error` is 0."""
        if error:
            text = self._c.scaled_mm_error_text(error).decode()
            raise LaunchError(f"error {error}: {text} ({self._c.scaled_mm_device_error().decode()})")

    def _describe(self, ordinal: int) -> tuple[str, int]:
        name, units = ctypes.create_string_buffer(256), ctypes.c_int()
        self.check(self._c.scaled_mm_device_describe(ordinal, name, len(name), ctypes.byref(units)))
        return name.value.decode(), units.value


def open_library(path: Path, target: str, ordinal: int = 0) -> Library:
    """Load the build at `path` for `target`, and open the GPU `ordinal` if it is for one. Raises LibraryError."""
    return Library(path, target) if target == "cpu" else DeviceLibrary(path, target, ordinal)
