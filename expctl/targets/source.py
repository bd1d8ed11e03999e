"""Recipe for a kernel that is built by being loaded: Python (numpy, torch, Triton), or a source that cupy or torch compiles."""

import hashlib
import json
from pathlib import Path

from expctl.domain.errors import Refused
from expctl.domain.experiment.record import Fact
from expctl.domain.history.plain_code import c_words
from expctl.domain.protocol.model import Build
from expctl.domain.rules.meaning import View
from expctl.domain.run.step_result import Available, Unavailable
from expctl.inspection.readers.triton_cache import CompiledKernel, compiled_kernels
from expctl.targets import python_outline

KNOWS_ITS_LINES = frozenset({"__LINE__", "assert", "__COUNTER__"})
TRITON_CACHE = "triton"
"""Folder beside the artifact in which Triton keeps what it compiles during the build (TRITON_CACHE_DIR)."""


class SourceRecipe:
    """The artifact is a copy of the file `source`, in Python or C++. With `argv`, the build also runs that command, in which
    Triton compiles the kernels of `{artifact}`.
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
        """Return the command that copies the source, parses Python and, where protocol.yaml has one, that which compiles."""
        artifact = str(out / build.artifact)
        copies = ("{python}", "-I", python_outline.__file__, build.source, artifact)
        compiles = tuple(word.replace("{artifact}", artifact) for word in build.argv)
        return (copies, compiles) if compiles else (copies,)

    def preprocess(self, build: Build, *, out: Path) -> tuple[str, ...]:  # noqa: ARG002  the port's signature
        """Return (): a build takes no longer."""
        return ()

    def listing(self, build: Build, *, out: Path, view: View) -> tuple[str, ...]:  # noqa: ARG002  the port's signature
        """Return (): what it makes can't be read by functions."""
        return ()

    def describe(self, artifact: Path) -> tuple[str, tuple[Fact, ...]]:
        """Return the hash of the code without comments (and docstrings of Python), and facts of compiled kernels.

        For the body of a Triton kernel that was compiled, its machine code stands in. The rest of the module is what launched
        the compiler: where that is equal, no other code can have made the compiled files.
        """
        outlined = Path(f"{artifact}.outline")
        if not outlined.is_file():
            return _hash(_words(artifact.read_text(errors="surrogateescape"))), ()
        outline = json.loads(outlined.read_text())
        found = compiled_kernels(artifact.parent / TRITON_CACHE)
        compiled = {name: [each.identity for each in found if each.name == name] for name in outline["kernels"]}
        bodies = {name: sorted(compiled[name]) or body for name, body in outline["kernels"].items()}
        text = json.dumps([outline["host"], bodies], sort_keys=True) if any(compiled.values()) else outline["whole"]
        return _hash(text), _facts(found)


def _words(text: str) -> str:
    """Return C-like code without comments; as it is, where it knows its lines or can't be read with certainty."""
    words = c_words(text)
    return text if words is None or not KNOWS_ITS_LINES.isdisjoint(words) else json.dumps(words)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def _facts(found: tuple[CompiledKernel, ...]) -> tuple[Fact, ...]:
    """Return the largest of each figure of the compiled kernels; () where a file of Triton's can't be read."""
    worst: dict[str, int] = {}
    try:
        for figures in (each.figures for each in found):
            worst |= {name: max(value, worst.get(name, 0)) for name, value in figures.items()}
    except Refused:
        return ()
    return tuple(Fact(name=name, value=value, unit=UNITS.get(name, "")) for name, value in sorted(worst.items()))


UNITS = {"lds": "B", "scratch": "B", "shared": "B", "local": "B", "code": "B"}
