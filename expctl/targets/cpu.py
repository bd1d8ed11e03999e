"""Target `cpu`: the clang of the ziglang wheel, so that no system compiler is needed."""

from pathlib import Path

from expctl.domain.experiment.record import Fact
from expctl.domain.protocol.model import Build
from expctl.domain.run.step_result import Available, Unavailable
from expctl.inspection import tool_versions
from expctl.inspection.readers.code_identity import code_hash

# No C++ standard library comes into the kernel; -nostdinc++ keeps it so.
FIXED = ("-x", "c++", "-std=c++17", "-fno-exceptions", "-fno-rtti", "-nostdinc++", "-shared", "-fPIC")


class ZigCpuRecipe:
    """A shared library for this CPU."""

    def availability(self, build: Build) -> Available | Unavailable:  # noqa: ARG002  the port's signature
        """The wheel, and what describes its output."""
        return tool_versions.packages("ziglang", "elftools", extra="cpu")

    def commands(self, build: Build, *, out: Path) -> tuple[tuple[str, ...], ...]:
        """One call of `zig cc`, in the worktree, with relative source paths, so that paths don't enter the code."""
        return (("{python}", "-m", "ziglang", "cc", *FIXED, *build.flags, build.source, "-o", str(out / build.artifact)),)

    def describe(self, artifact: Path) -> tuple[str, tuple[Fact, ...]]:
        """Identity, and the size of the file."""
        return code_hash(artifact), (Fact(name="library_bytes", value=artifact.stat().st_size, unit="B"),)
