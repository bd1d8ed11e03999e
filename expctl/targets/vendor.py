"""A vendor's compiler driver on PATH: one call makes a host library that embeds the device code."""

from dataclasses import dataclass
from pathlib import Path

from expctl.domain.experiment.record import Fact
from expctl.domain.protocol.model import Build
from expctl.domain.run.step_result import Available, Unavailable
from expctl.inspection import tool_versions
from expctl.inspection.readers.code_identity import code_hash


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorRecipe:
    """`arch_option` is what precedes the architecture; `fixed` makes a shared library of position-independent code."""

    program: str
    arch_option: str
    fixed: tuple[str, ...]
    hint: str

    def availability(self, build: Build) -> Available | Unavailable:  # noqa: ARG002  the port's signature
        """The driver on PATH."""
        return tool_versions.program(self.program, hint=self.hint)

    def commands(self, build: Build, *, out: Path) -> tuple[tuple[str, ...], ...]:
        """One call, in the worktree."""
        arch, artifact = f"{self.arch_option}{build.arch}", str(out / build.artifact)
        return ((self.program, arch, *self.fixed, *build.flags, build.source, "-o", artifact),)

    def describe(self, artifact: Path) -> tuple[str, tuple[Fact, ...]]:
        """Identity of the host library."""
        return code_hash(artifact), ()
