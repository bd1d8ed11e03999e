"""Recipe for a target that is built by a command in protocol.yaml, in any language, with any compiler."""

import shutil
from functools import lru_cache
from pathlib import Path

from expctl.domain.experiment.record import Fact
from expctl.domain.protocol.model import LAYOUT, Build
from expctl.domain.rules.meaning import View
from expctl.domain.run.step_result import Available, Unavailable
from expctl.inspection.readers.code_identity import code_hash
from expctl.inspection.tool_versions import program

COMPILERS = ("cc", "gcc", "clang", "c++", "g++", "clang++", "nvcc", "hipcc", "icx", "icpx", "rustc", "gfortran")
BUILD_TOOLS = {"make", "cmake", "ninja", "meson"}
CALLED = ("cc", "c++")
"""What build tools call unless they are told otherwise."""


class CommandRecipe:
    """Builds with the command (argv) in protocol.yaml, which is run in the work tree and must write the file `{artifact}`."""

    def availability(self, build: Build) -> Available | Unavailable:
        """Return Available with the versions of the compilers that the command names, or that a build tool in it calls. Whether
        all its tools are installed, only running it shows.
        """
        return Available(versions=_versions(tuple(sorted(set(" ".join(build.argv).split())))))

    def commands(
        self,
        build: Build,
        *,
        out: Path,
        layout: int = 0,
        objects: Path | None = None,  # noqa: ARG002  the port's signature
    ) -> tuple[tuple[str, ...], ...]:
        """Return the command in protocol.yaml; `{artifact}` in it becomes a path in `out`, `{layout}` becomes `layout`."""
        path = str(out / build.artifact)
        return (tuple(word.replace(LAYOUT, str(layout)).replace("{artifact}", path) for word in build.argv),)

    def preprocess(self, build: Build, *, out: Path) -> tuple[str, ...]:  # noqa: ARG002  the port's signature
        """Return (): nobody knows what the command reads."""
        return ()

    def listing(self, build: Build, *, out: Path, view: View) -> tuple[str, ...]:  # noqa: ARG002  the port's signature
        """Return (): what it makes can't be read by functions."""
        return ()

    def describe(self, artifact: Path) -> tuple[str, tuple[Fact, ...]]:
        """Return the hash of the artifact's code (of the whole file if it isn't ELF), and no facts."""
        return code_hash(artifact), ()


@lru_cache
def _versions(words: tuple[str, ...]) -> dict[str, str]:
    named = {word for word in words if word.rsplit("/", 1)[-1].partition("-")[0] in COMPILERS}
    called = {name for name in CALLED if shutil.which(name)} if BUILD_TOOLS.intersection(words) else set()
    answers = [program(name, hint="") for name in sorted(named | called)]
    return {name: version for each in answers if isinstance(each, Available) for name, version in each.versions.items()}
