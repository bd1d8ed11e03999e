"""Recipe for a vendor's compiler (hipcc, nvcc) on PATH: one call makes a host library with embedded GPU code."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from expctl.domain.experiment.record import Fact
from expctl.domain.protocol.model import Build
from expctl.domain.rules.meaning import View
from expctl.domain.run.step_result import Available, Unavailable
from expctl.inspection import tool_versions
from expctl.inspection.readers.code_identity import code_hash


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorRecipe:
    """Builds with the compiler `program`, by the options `fixed` and those of the target. `arch_option` is the option for
    a named architecture, `hint` how to install the compiler, `written` what makes it write the device code as the text that a
    view is read from, `facts` reads the figures of the kernels out of a build. `meaning` returns the call of another compiler
    that writes LLVM IR of the device code to a file, optimised or not; () where there is none.
    """

    program: str
    arch_option: Callable[[str], str]
    fixed: tuple[str, ...]
    hint: str
    written: Mapping[View, tuple[str, ...]] = field(default_factory=dict)
    facts: Callable[[Path], tuple[Fact, ...]] = lambda _: ()
    meaning: Callable[[Build, Path, View], tuple[str, ...]] = lambda _, __, ___: ()

    def availability(self, build: Build) -> Available | Unavailable:  # noqa: ARG002  the port's signature
        """Return the version of the compiler on PATH, or Unavailable with advice on how to install it."""
        return tool_versions.program(self.program, hint=self.hint)

    def commands(
        self,
        build: Build,
        *,
        out: Path,
        layout: int = 0,  # noqa: ARG002  the port's signature; protocol.yaml asks for no other layout
        objects: Path | None = None,  # noqa: ARG002
    ) -> tuple[tuple[str, ...], ...]:
        """Return one call of the compiler, to be run in the work tree."""
        arch, artifact = self.arch_option(build.arch), str(out / build.artifact)
        return ((self.program, arch, *self.fixed, *build.flags, build.source, "-o", artifact),)

    def preprocess(self, build: Build, *, out: Path) -> tuple[str, ...]:  # noqa: ARG002  the port's signature
        """Return (): one call compiles for host and device, each with a text of its own."""
        return ()

    def listing(self, build: Build, *, out: Path, view: View) -> tuple[str, ...]:
        """Return the call that writes what `view` is read from to `out`, of the device code alone; () for a compiler that has
        no option for it.
        """
        by_another = self.meaning(build, out, view) if view in (View.MEANING, View.UNOPTIMISED) else ()
        if by_another or view not in self.written:
            return by_another
        return (self.program, self.arch_option(build.arch), *self.written[view], *build.flags, build.source, "-o", str(out))

    def describe(self, artifact: Path) -> tuple[str, tuple[Fact, ...]]:
        """Return the hash of the code sections of the host library `artifact`, and its facts."""
        return code_hash(artifact), self.facts(artifact)
