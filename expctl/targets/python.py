"""Recipe for a kernel that is Python: numpy, torch, or Triton, whose compiled kernels are what is compared."""

import hashlib
import json
from pathlib import Path

from expctl.domain.experiment.record import Fact
from expctl.domain.protocol.model import Build
from expctl.domain.run.step_result import Available, Unavailable
from expctl.inspection.readers.triton_cache import CompiledKernel, compiled_kernels
from expctl.targets import python_outline

TRITON_CACHE = "triton"
"""Folder beside the artifact in which Triton keeps what it compiles during the build (TRITON_CACHE_DIR)."""


class PythonRecipe:
    """The artifact is a copy of the Python file `source`. With `argv`, the build also runs that command, in which Triton
    compiles the kernels of `{artifact}`.
    """

    def availability(self, build: Build) -> Available | Unavailable:  # noqa: ARG002  the port's signature
        """Return Available: which packages the interpreter must have is in `requires`."""
        return Available(versions={})

    def commands(
        self,
        build: Build,
        *,
        out: Path,
        layout: int = 0,  # noqa: ARG002  the port's signature; protocol.yaml asks for no other layout
        objects: Path | None = None,  # noqa: ARG002
    ) -> tuple[tuple[str, ...], ...]:
        """Return the command that parses and copies the source and, where protocol.yaml has one, that which compiles."""
        artifact = str(out / build.artifact)
        copies = ("{python}", "-I", python_outline.__file__, build.source, artifact)
        compiles = tuple(word.replace("{artifact}", artifact) for word in build.argv)
        return (copies, compiles) if compiles else (copies,)

    def preprocess(self, build: Build, *, out: Path) -> tuple[str, ...]:  # noqa: ARG002  the port's signature
        """Return (): to parse the source is all that a build takes."""
        return ()

    def describe(self, artifact: Path) -> tuple[str, tuple[Fact, ...]]:
        """Return the hash of the module's code without comments and docstrings, and facts of compiled kernels.

        For the body of a Triton kernel that was compiled, its machine code stands in. The rest of the module is what launched
        the compiler: where that is equal, no other code can have made the compiled files.
        """
        outline = json.loads(Path(f"{artifact}.outline").read_text())
        found = compiled_kernels(artifact.parent / TRITON_CACHE)
        compiled = {name: [each.identity for each in found if each.name == name] for name in outline["kernels"]}
        bodies = {name: sorted(compiled[name]) or body for name, body in outline["kernels"].items()}
        text = json.dumps([outline["host"], bodies], sort_keys=True) if any(compiled.values()) else outline["whole"]
        return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest(), _facts(found)


def _facts(found: tuple[CompiledKernel, ...]) -> tuple[Fact, ...]:
    """Return the figures of the worst of the compiled kernels: each the largest."""
    names = sorted({name for each in found for name in each.figures})
    return tuple(
        Fact(name=name, value=max(each.figures[name] for each in found if name in each.figures), unit=UNITS.get(name, ""))
        for name in names
    )


UNITS = {"lds": "B", "scratch": "B", "shared": "B", "local": "B", "code": "B"}
