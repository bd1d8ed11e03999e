"""Learns in which order a build packs B, and proves that it only moves bytes. From then on the harness packs by itself.

A build that chose its own packing could work ahead of the clock: decode B, or note what it will need. So it is given planes of
coordinates to pack, which show where each byte of B (K, N) goes. Timed launches get bytes that the build has never seen.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from expctl.harness.report import BuildFailed
from kernel.harness.build_memory import memory_of
from kernel.harness.build_proxy import BuildProxy
from kernel.runtime.formats import Bytes

MOST_TILE = 256
"""A packed B may be padded to multiples of this, in K and in N."""
UNWRITTEN = 0xA5
_PART, _CACHED = 1 << 22, 1 << 17
Places = NDArray[Any]
Prepack = Callable[[Bytes], Bytes]


class Packing:
    """The order of bytes in a packed B of `size` bytes: B (K, N) lies at `places` (K, N), every other byte is zero."""

    def __init__(self, places: Places, size: int) -> None:
        self.places, self.size = places, size

    def pack(self, codes: Bytes) -> Bytes:
        """Return `codes` (K, N) packed, (size,)."""
        packed = np.zeros(self.size, np.uint8)
        packed[self.places] = codes
        return packed

    def unpack(self, packed: Bytes) -> Bytes:
        """Return the codes (K, N) in `packed` (size,)."""
        return packed[self.places]

    def columns(self, packed: Bytes, columns: NDArray[np.intp]) -> Bytes:
        """Return these columns of the codes in `packed` (size,), (K, len(columns))."""
        return packed[self.places[:, columns]]

    @functools.cached_property
    def padding(self) -> NDArray[np.intp]:
        """Places of the bytes that are zero."""
        if self.places.size == self.size:
            return np.empty(0, np.intp)
        free = np.ones(self.size, bool)
        free[self.places] = False
        return np.flatnonzero(free)


class _Coordinates:
    """What `prepack` makes of planes of ones and of the digits, to the base of 256, of rows and columns."""

    def __init__(self, prepack: Prepack, k: int, n: int) -> None:
        self.shape, self._prepack = (k, n), prepack
        self.held = prepack(np.ones((k, n), np.uint8))
        self.digits = {axis: [prepack(plane) for plane in self._planes(axis)] for axis in (0, 1)}

    def _planes(self, axis: int) -> Iterator[Bytes]:
        numbers = np.arange(self.shape[axis], dtype=np.uint32)
        for digit in range(0, max(1, int(self.shape[axis] - 1).bit_length()), 8):
            plane = (numbers >> digit).astype(np.uint8)
            yield np.ascontiguousarray(np.broadcast_to(plane[:, np.newaxis] if axis == 0 else plane, self.shape))

    def numbers(self, axis: int, at: Any) -> NDArray[np.uint32]:
        """Return the row (axis 0) or column (axis 1) in B of the bytes `at` these places."""
        found = np.zeros(self.held[at].shape, np.uint32)
        for digit, held in enumerate(self.digits[axis]):
            found |= held[at].astype(np.uint32) << np.uint32(8 * digit)
        return found

    def begins(self, axis: int) -> NDArray[np.intp]:
        """Return the places of bytes of the first row (axis 0) or column (axis 1)."""
        found = self.held == 1
        for held in self.digits[axis]:
            found &= held == 0
        return np.flatnonzero(found)

    def lie_at_sums(self, of_row: Places, of_column: Places) -> bool:
        """Return whether each byte (row, column) of B lies at the place `of_row[row] + of_column[column]`, and zeros elsewhere.

        Looked at place by place: no two hold the same byte, because its sum is one place; so K x N of them hold all.
        """
        (k, n), found = self.shape, 0
        for begin in range(0, self.held.size, _CACHED):
            part = slice(begin, begin + _CACHED)
            held, rows, columns = self.held[part], self.numbers(0, part), self.numbers(1, part)
            if held.max() > 1 or rows.max() >= k or columns.max() >= n:
                return False
            sums = of_row.take(rows) + of_column.take(columns)
            is_right = sums == np.arange(begin, begin + held.size, dtype=of_row.dtype)
            if not held.all():
                is_right |= (held == 0) & (rows == 0) & (columns == 0)
            if not is_right.all():
                return False
            found += int(np.count_nonzero(held))
        return found == k * n


def learn(prepack: Prepack, k: int, n: int, size: int) -> Packing:
    """Return the packing of a K x N matrix that `prepack` does. Raises BuildFailed if it isn't a permutation and zeros."""
    most = -(-k // MOST_TILE) * MOST_TILE * (-(-n // MOST_TILE) * MOST_TILE)
    _require(k * n <= size <= most, k, n, f"{k * n} to {most} bytes", size)
    made = _Coordinates(prepack, k, n)
    return _as_sums(made, size) or _byte_by_byte(made, size)


def _as_sums(made: _Coordinates, size: int) -> Packing | None:
    """Return the packing if each place is a sum of what the row gives and what the column gives, as tiles have it:
    several times quicker than byte by byte.
    """
    k, n = made.shape
    in_column, in_row = made.begins(1), made.begins(0)
    if (in_column.size, in_row.size) != (k, n):
        return None
    rows, columns = made.numbers(0, in_column), made.numbers(1, in_row)
    if not (np.array_equal(np.sort(rows), np.arange(k)) and np.array_equal(np.sort(columns), np.arange(n))):
        return None
    of_row, of_column = np.empty(k, _number(size)), np.empty(n, _number(size))
    of_row[rows], of_column[columns] = in_column, in_row
    of_row -= of_row[0]  # below zero it wraps, and so does the sum
    return Packing(of_row[:, np.newaxis] + of_column, size) if made.lie_at_sums(of_row, of_column) else None


def _number(size: int) -> type[np.unsignedinteger[Any]]:
    return np.uint32 if size < 1 << 32 else np.uint64


def _byte_by_byte(made: _Coordinates, size: int) -> Packing:
    (k, n), held = made.shape, made.held
    _require(bool((held <= 1).all()), k, n, "bytes of B, and zeros", f"byte {int(np.argmax(held > 1))} that is neither")
    at = np.flatnonzero(held)
    _require(at.size == k * n, k, n, f"each of {k * n} bytes once", f"{at.size} places that hold one")
    rows, columns = made.numbers(0, at), made.numbers(1, at)
    _require(bool((rows < k).all() and (columns < n).all()), k, n, "bytes of B, and zeros", "a byte that is made of several")
    places = np.full(k * n, size, _number(size))
    for begin in range(0, at.size, _PART):
        part = slice(begin, begin + _PART)
        places[rows[part].astype(np.intp) * n + columns[part]] = at[part]
    missing = int((places == size).sum())
    _require(missing == 0, k, n, f"each of {k * n} bytes once", f"{missing} bytes of B nowhere")
    return Packing(places.reshape(k, n), size)


def _require(holds: bool, k: int, n: int, expected: str, found: object) -> None:
    if not holds:
        raise BuildFailed(f"the packed B of a {k} x {n} matrix: expected {expected}, found {found}")


def prepack_by(build: BuildProxy, codes: Bytes) -> Bytes:
    """Return what the build makes of `codes` (K, N), in memory that held UNWRITTEN. Raises LaunchError."""
    k, n = codes.shape
    size = build.packed_bytes(n, k)
    memory = memory_of(build)
    try:
        b, packed = memory.take([codes.size, size])
        memory.write(b, codes.reshape(-1))
        memory.fill(packed, UNWRITTEN, size)
        build.host.ask("prepack", b=b, packed=packed, n=n, k=k)
        memory.check_canaries()
        return memory.read(packed, size)
    finally:
        memory.release()


@functools.lru_cache(maxsize=4)
def packing_of(build: BuildProxy, k: int, n: int) -> Packing:
    """Return how `build` packs a K x N matrix. Raises BuildFailed if it does more than move bytes, or LaunchError."""
    return learn(functools.partial(prepack_by, build), k, n, build.packed_bytes(n, k))


def check(build: BuildProxy, codes: Bytes) -> None:
    """Raise BuildFailed unless the build packs `codes` (K, N) as it packed the coordinates."""
    packed, expected = prepack_by(build, codes), packing_of(build, *codes.shape).pack(codes)
    if not np.array_equal(packed, expected):
        place = int(np.argmax(packed != expected))
        found = f"byte {place} is {packed[place]}, expected {expected[place]}"
        raise BuildFailed(f"the packed B: {found}: other values, another order")
