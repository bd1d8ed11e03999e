"""Target sm_90 (Hopper): nvcc of an installed CUDA toolkit."""

from pathlib import Path

from expctl.domain.ports import Available, Unavailable
from expctl.domain.protocol import Build
from expctl.domain.record import Fact
from expctl.targets import presence
from expctl.targets.code_identity import code_hash


class NvccRecipe:
    """A shared library with host launchers and device code for one architecture."""

    def availability(self, build: Build) -> Available | Unavailable:  # noqa: ARG002  the port's signature
        """nvcc on PATH."""
        return presence.program("nvcc", hint="install the CUDA toolkit (nvcc, ncu) and put its bin folder on PATH")

    def commands(self, build: Build, *, out: Path) -> tuple[tuple[str, ...], ...]:
        """One call of nvcc, in the worktree."""
        return (
            (
                "nvcc",
                f"-arch={build.arch}",
                "-shared",
                "-Xcompiler",
                "-fPIC",
                *build.flags,
                build.source,
                "-o",
                str(out / build.artifact),
            ),
        )

    def describe(self, artifact: Path) -> tuple[str, tuple[Fact, ...]]:
        """Identity of the host library, which embeds the device code."""
        return code_hash(artifact), ()
