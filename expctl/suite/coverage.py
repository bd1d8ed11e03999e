"""Which kernels of a repository have a benchmark and config files, and which are in no suite."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from expctl.suite.model import Suite, SuiteKernel


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """A kernel, or a source file that no kernel of the suite names; `shapes` is 0 then. `benchmark` and `source` are paths,
    `missing` those of them that don't exist, `configs` the files that exist.
    """

    kernel: str
    source: str = ""
    benchmark: str = ""
    configs: tuple[str, ...] = ()
    shapes: int = 0
    wants_configs: bool = False
    missing: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Return whether it is in the suite, with a benchmark, and with config files where it names some."""
        return bool(self.shapes and self.benchmark and not self.missing and (self.configs or not self.wants_configs))


def coverage_of(suite: Suite, root: Path) -> tuple[Coverage, ...]:
    """Return every kernel of the suite, then each file of `sources` below `root` that none of them names."""
    known = [_covered(name, kernel, root) for name, kernel in suite.kernels.items()]
    named = {each.source for each in known}
    others = sorted({path for pattern in suite.sources for path in _files(root, pattern)} - named)
    return (*known, *(Coverage(kernel=path, source=path) for path in others))


def _covered(name: str, kernel: SuiteKernel, root: Path) -> Coverage:
    return Coverage(
        kernel=name,
        source=kernel.source,
        benchmark=kernel.benchmark,
        configs=tuple(sorted({path for pattern in kernel.configs for path in _files(root, pattern)})),
        shapes=len(kernel.shapes),
        wants_configs=bool(kernel.configs),
        missing=tuple(path for path in (kernel.source, kernel.benchmark) if path and not (root / path).is_file()),
    )


def _files(root: Path, pattern: str) -> Iterator[str]:
    return (path.relative_to(root).as_posix() for path in root.glob(pattern) if path.is_file())
