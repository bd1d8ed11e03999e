"""Target gfx1151 (or another AMD GPU) on the hardware: hipcc of an installed ROCm."""

from pathlib import Path

from expctl.domain.ports import Available, Unavailable
from expctl.domain.protocol import Build
from expctl.domain.record import Fact
from expctl.targets import presence
from expctl.targets.code_identity import code_hash


class HipccRecipe:
    """A shared library with host launchers and device code for one architecture."""

    def availability(self, build: Build) -> Available | Unavailable:  # noqa: ARG002  the port's signature
        """hipcc on PATH."""
        return presence.program("hipcc", hint="install ROCm 7 or later (hipcc, rocprofv3) and put its bin folder on PATH")

    def commands(self, build: Build, *, out: Path) -> tuple[tuple[str, ...], ...]:
        """One call of hipcc, in the worktree."""
        return (
            (
                "hipcc",
                f"--offload-arch={build.arch}",
                "-shared",
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
