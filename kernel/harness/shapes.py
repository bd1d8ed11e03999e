"""The products that the test computes, and the sizes that the benchmark times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kernel.runtime.formats import Fp8
from kernel.runtime.library import Config


class Extents(NamedTuple):
    """A product C (m, n) = A (m, k) x B (k, n) that is timed."""

    m: int
    n: int
    k: int

    @classmethod
    def parse(cls, name: str) -> Extents:
        """Parse "n=768" or "768", which is 768 x 768 x 768, or "32x12288x2048", which is M x N x K. Raises ValueError."""
        words = name.strip().removeprefix("n=").split("x")
        numbers = [int(word) for word in words]
        if len(numbers) not in (1, 3) or min(numbers) < 1:
            raise ValueError(f"a size is n=768 or MxNxK such as 32x12288x2048, found {name!r}")
        return cls(*numbers) if len(numbers) == 3 else cls.cube(numbers[0])

    @classmethod
    def cube(cls, n: int) -> Extents:
        """Return n x n x n."""
        return cls(n, n, n)

    @property
    def name(self) -> str:
        """Return the name that `parse` takes."""
        return f"n={self.n}" if self.m == self.n == self.k else f"{self.m}x{self.n}x{self.k}"

    @property
    def flop(self) -> int:
        """Return the floating-point operations of the product."""
        return 2 * self.m * self.n * self.k


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """C (m, n) = (A (m, k) x B (k, n)) * scale + bias (n)."""

    fp8: Fp8
    m: int
    n: int
    k: int
    scale: float
    bias: bool
    config: Config | None = None
    """The config to use; None lets the build choose."""
    every_code: bool = False
    """Column n of B is code n, A picks it out: the result is the decoded table itself."""

    @property
    def name(self) -> str:
        """Return a name that is unique among the cases of a test."""
        words = [self.fp8.label, f"m={self.m} n={self.n} k={self.k}"]
        words += ["scale"] if self.scale != 1.0 else []
        words += ["bias"] if self.bias else []
        words += ["every-code"] if self.every_code else []
        words += ["config=" + ",".join(map(str, self.config))] if self.config else []
        return " ".join(words)


SHAPES: tuple[tuple[int, int, int], ...] = (
    # tiny
    (1, 1, 1), (1, 1, 16), (2, 3, 5), (1, 64, 32), (64, 1, 32), (16, 16, 16), (17, 15, 17),
    # one more and one less than a fragment, a slice, a chunk, a tile
    (31, 33, 31), (32, 64, 33), (63, 65, 64), (65, 63, 63), (64, 64, 48), (127, 129, 40), (129, 127, 24), (128, 256, 32),
    (128, 256, 64), (127, 255, 31), (129, 257, 33), (128, 272, 80), (144, 256, 96),
    # K that no row of A is aligned for
    (130, 100, 77), (200, 300, 130), (96, 160, 1),
    # odd sizes and long K
    (251, 509, 127), (333, 222, 111), (5, 7, 4099), (128, 256, 2048), (48, 80, 8200),
)  # fmt: skip
EDGES_FOR_EVERY_CONFIG: tuple[tuple[int, int, int], ...] = ((1, 1, 1), (33, 50, 70), (257, 130, 104), (130, 259, 128))
KPI_SIZES: dict[str, tuple[Extents, ...]] = {
    "cpu": (Extents.cube(512), Extents.cube(384)),
    "sm_90": (Extents.cube(1024), Extents.cube(4096)),
    "gfx1151": (Extents.cube(1024), Extents.cube(4096)),
}


def cases(formats: Sequence[Fp8], sizes: Sequence[Extents], configs: Sequence[Config]) -> Iterator[Case]:
    """Yield every product in each of `formats`, with scale and bias in turn; and four edge shapes for each of `configs`."""
    for fp8 in formats:
        yield Case(fp8=fp8, m=16, n=256, k=16, scale=1.0, bias=False, every_code=True)
        shapes = [*SHAPES, *sizes]
        for i, (m, n, k) in enumerate(shapes):
            yield Case(fp8=fp8, m=m, n=n, k=k, scale=(1.0, 0.5, -0.375)[i % 3], bias=i % 2 == 1)
        for config in configs:
            for i, (m, n, k) in enumerate(EDGES_FOR_EVERY_CONFIG):
                yield Case(fp8=fp8, m=m, n=n, k=k, scale=0.5, bias=i % 2 == 1, config=config)
