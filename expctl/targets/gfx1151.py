"""Recipe for target gfx1151 without the GPU: clang of the Python package ziglang compiles HIP to assembly and code object."""

import hashlib
import re
from pathlib import Path

from expctl.domain.experiment.record import Fact
from expctl.domain.protocol.model import Build, NumberKind
from expctl.domain.rules.meaning import View
from expctl.domain.run.step_result import Available, Unavailable
from expctl.inspection import tool_versions
from expctl.inspection.device_compiler import wheel_flags
from expctl.inspection.readers.code_object import CodeObject, parse_code_object
from expctl.targets.cpu import WRITTEN

LOOSE = "kernel.o"
"""The relocatable object, which is hashed: in a linked file, addresses of data depend on what else the file holds."""

# Metadata key of clang's text -> our name, unit, and whether more is worse (the worst kernel of the build is reported).
METADATA = (
    (r"\.vgpr_count:\s+(\d+)", "vgpr", "", max),
    (r"\.sgpr_count:\s+(\d+)", "sgpr", "", max),
    (r"\.group_segment_fixed_size:\s+(\d+)", "lds", "B", max),
    (r"\.private_segment_fixed_size:\s+(\d+)", "scratch", "B", max),
    (r"\.vgpr_spill_count:\s+(\d+)", "vgpr_spills", "", max),
    (r"\.sgpr_spill_count:\s+(\d+)", "sgpr_spills", "", max),
    (r"; Occupancy:\s+(\d+)", "occupancy", "waves per SIMD", min),
    (r"; codeLenInByte = (\d+)", "code", "B", max),
)


class ZigGfxRecipe:
    """Builds a HIP source in three steps (assembly, object file, code object), since `zig clang -c` can't link HIP. The
    artifact is the assembly, which the interpreter can run, if its name ends in .s; else the code object.
    """

    def availability(self, build: Build) -> Available | Unavailable:  # noqa: ARG002  the port's signature
        """Return the versions of ziglang and pyelftools, or Unavailable if one is not installed."""
        return tool_versions.packages("ziglang", "elftools", extra="cpu")

    def commands(
        self,
        build: Build,
        *,
        out: Path,
        layout: int = 0,  # noqa: ARG002  the port's signature; protocol.yaml asks for no other layout
        objects: Path | None = None,  # noqa: ARG002
    ) -> tuple[tuple[str, ...], ...]:
        """Return three calls of `zig`, which compile, assemble and link. All their files are written to `out`."""
        zig = ("{python}", "-m", "ziglang")
        text, loose, code = (str(path) for path in (_text(out / build.artifact), out / LOOSE, _code(out / build.artifact)))
        return (
            (*_clang(build), "-S", build.source, "-o", text),
            (*zig, "clang", "--target=amdgcn-amd-amdhsa", f"-mcpu={build.arch}", "-c", text, "-o", loose),
            (*zig, "ld.lld", "-shared", loose, "-o", code),
        )

    def preprocess(self, build: Build, *, out: Path) -> tuple[str, ...]:
        """Return the call of `zig` that writes the preprocessed device code to the file `out`."""
        return (*_clang(build), "-E", "-P", build.source, "-o", str(out))

    def listing(self, build: Build, *, out: Path, view: View) -> tuple[str, ...]:
        """Return the call of `zig` that writes what `view` is read from to the file `out`; () for what nobody asks of it."""
        if view not in WRITTEN:
            return ()
        return (*_clang(build), *WRITTEN[view], build.source, "-o", str(out))

    def describe(self, artifact: Path) -> tuple[str, tuple[Fact, ...]]:
        """Return a hash of all kernels' code, and the compiler's figures (registers, spills, ...), each of the worst kernel."""
        loose = artifact.parent / LOOSE
        found = parse_code_object(loose.read_bytes(), str(loose))
        return kernels_hash(found), compiler_facts(_text(artifact).read_text())


def _clang(build: Build) -> tuple[str, ...]:
    return ("{python}", "-m", "ziglang", "clang", *wheel_flags(build.arch), "-std=c++17", *build.flags)


def kernels_hash(found: CodeObject) -> str:
    """Return the SHA-256 of names and code of all kernels, which doesn't depend on their order in the source."""
    lines = sorted(f"{kernel.name} {code}\n" for kernel, code in zip(found.kernels, found.hashes, strict=True))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def compiler_facts(assembly: str) -> tuple[Fact, ...]:
    """Return VGPR, SGPR, LDS, scratch, spills, occupancy and code bytes from clang's assembly output. A fact is the worst value
    among the kernels: the maximum, for occupancy the minimum.
    """
    facts = []
    for pattern, name, unit, worst in METADATA:
        values = [int(value) for value in re.findall(pattern, assembly)]
        if values:
            facts.append(Fact(name=name, value=worst(values), unit=unit, kind=NumberKind.STATIC))
    return tuple(facts)


def _text(artifact: Path) -> Path:
    return artifact if artifact.suffix == ".s" else artifact.parent / "kernel.s"


def _code(artifact: Path) -> Path:
    return artifact.parent / "kernel.hsaco" if artifact.suffix == ".s" else artifact
