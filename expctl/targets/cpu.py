"""Recipe for target `cpu`: compiles with clang from the Python package ziglang, so that no system compiler is needed."""

from pathlib import Path

from expctl.domain.experiment.record import Fact
from expctl.domain.protocol.model import Build
from expctl.domain.rules.meaning import View
from expctl.domain.run.step_result import Available, Unavailable
from expctl.inspection import tool_versions
from expctl.inspection.readers.code_identity import code_hash
from expctl.targets.linker_script import place_sections, text_sections

# The kernel may use no C++ standard library: -nostdinc++.
COMPILER = ("{python}", "-m", "ziglang", "cc")
FIXED = ("-x", "c++", "-std=c++17", "-fno-exceptions", "-fno-rtti", "-nostdinc++", "-shared", "-fPIC")

_PLAINLY = ("-inline-threshold=100000", "-unroll-threshold=10000", "-unroll-full-max-count=4", "-unroll-allow-partial=false")
WRITTEN = {
    View.MEANING: ("-g0", "-S", "-emit-llvm"),
    View.PLAIN: (
        *("-g0", "-S", "-emit-llvm", "-fno-vectorize", "-fno-slp-vectorize"),
        *(
            word
            for option in (*_PLAINLY, "-unroll-runtime=false", "-unroll-allow-peeling=false")
            for word in ("-mllvm", option)
        ),
    ),
    View.CODE: ("-g0", "-S"),
    View.REGIONS: ("-gline-tables-only", "-S", "-emit-llvm"),
    View.STATEMENTS: ("-E",),
    View.SOURCE: ("-E", "-P"),
}
"""What makes clang write the text that a view is read from."""


class ZigCpuRecipe:
    """Builds a shared library for this machine's CPU from one C++ source."""

    def availability(self, build: Build) -> Available | Unavailable:  # noqa: ARG002  the port's signature
        """Return the versions of ziglang and pyelftools, or Unavailable if one is not installed."""
        return tool_versions.packages("ziglang", "elftools", extra="cpu")

    def commands(self, build: Build, *, out: Path, layout: int = 0, objects: Path | None = None) -> tuple[tuple[str, ...], ...]:
        """Return one call of `zig cc`. The source's path is relative to the work tree, so that code doesn't depend on the tree.

        For a `layout` other than 0 it links with a linker script that places the functions differently. The script is written
        to `out`, from the object files that zig left in `objects` when it built layout 0.
        """
        artifact = str(out / build.artifact)
        compiles = (*COMPILER, *FIXED, *build.flags, build.source, "-o", artifact)
        if not layout or objects is None:
            return (compiles,)
        names = [name for file in sorted(objects.glob("o/*/*.o")) for name in text_sections(file)]
        script = out / "layout.ld"
        script.write_text(place_sections(names, layout))
        return ((*compiles, f"-Wl,-T,{script}"),)

    def preprocess(self, build: Build, *, out: Path) -> tuple[str, ...]:
        """Return the call of `zig cc` that writes the preprocessed source to the file `out`."""
        return (*COMPILER, *FIXED, *build.flags, "-E", "-P", build.source, "-o", str(out))

    def listing(self, build: Build, *, out: Path, view: View) -> tuple[str, ...]:
        """Return the call of `zig cc` that writes what `view` is read from to the file `out`; () for what nobody asks of it."""
        if view not in WRITTEN:
            return ()
        fixed = (word for word in FIXED if word != "-shared")
        return (*COMPILER, *fixed, *build.flags, *WRITTEN[view], build.source, "-o", str(out))

    def describe(self, artifact: Path) -> tuple[str, tuple[Fact, ...]]:
        """Return the hash of the library's code, and the size of the file in bytes as a fact."""
        return code_hash(artifact), (Fact(name="library_bytes", value=artifact.stat().st_size, unit="B"),)
