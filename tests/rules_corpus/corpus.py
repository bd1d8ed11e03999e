"""The corpus: pairs of patches on a frozen copy of the kernel, and the machine code that each of them gives on gfx1151.

`python -m tests.rules_corpus.corpus` compiles them all anew (minutes) and writes machine_code.json; the tests compile a few.
"""

from __future__ import annotations

import json
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from expctl.adapters.codec.strict_yaml import load
from expctl.domain.errors import Refused
from expctl.domain.patch.identity import ChangeIdentity, identify
from expctl.domain.patch.unified_diff import parse_diff, texts_of
from expctl.domain.rules.matching import Level
from expctl.inspection.device_compiler import Options, compile_source
from expctl.inspection.readers.code_object import parse_code_object
from expctl.targets.gfx1151 import kernels_hash

FOLDER = Path(__file__).parent
CODES = FOLDER / "machine_code.json"
OPTIONS = Options(arch="gfx1151", defines=("SCALED_MM_CONFIG=1,8,2,2,8,2",))
REPEAT, NEW = "repeat", "new"
NOT_BUILT = "does not build"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """`level` is the one that must know a repeat; None where nothing does."""

    name: str
    kind: str
    level: Level | None = None
    forbids: tuple[str, ...] = ()

    def patch(self, which: str) -> bytes:
        """`rejected` or `proposed`."""
        return (FOLDER / "pairs" / self.name / f"{which}.patch").read_bytes()

    def identity(self, which: str) -> ChangeIdentity:
        """Of one of the patches, by git's patch id and the texts of the frozen kernel."""
        patch = self.patch(which)
        said = subprocess.run(["git", "patch-id", "--stable"], input=patch, capture_output=True, check=True).stdout.split()
        return identify(texts_of(parse_diff(patch), kernel()), patch_id=said[0].decode())


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """pairs.yaml, typed."""

    pairs: tuple[Pair, ...] = field(default_factory=tuple)


@cache
def pairs() -> tuple[Pair, ...]:
    """All of them."""
    return load((FOLDER / "pairs.yaml").read_bytes(), Corpus, where="pairs.yaml").pairs


@cache
def kernel() -> dict[str, str]:
    """Path -> text of the kernel for which the patches were made."""
    with tarfile.open(FOLDER / "kernel.tar.gz") as archive:
        files = {each.name: archive.extractfile(each) for each in archive.getmembers() if each.isfile()}
        return {name: file.read().decode() for name, file in files.items() if file is not None}


def compiled(patch: bytes) -> str:
    """The gfx1151 machine code of the kernel with `patch`, as the guard target hashes it."""
    with tempfile.TemporaryDirectory() as name:
        files = {**kernel(), **{each.path: each.after for each in texts_of(parse_diff(patch), kernel())}}
        for path, text in files.items():
            (Path(name) / path).parent.mkdir(parents=True, exist_ok=True)
            (Path(name) / path).write_text(text)
        try:
            made = compile_source(Path(name) / "kernel/hip/scaled_mm.hip", OPTIONS)
        except Refused:
            return NOT_BUILT
        return kernels_hash(parse_code_object(made.code_object, name))


@cache
def codes() -> dict[str, str]:
    """`name/which` -> machine code, and `baseline`, as of the last time that somebody compiled them all."""
    known: dict[str, str] = json.loads(CODES.read_bytes())
    return known


if __name__ == "__main__":
    found = {"baseline": compiled(b"")}
    for pair in pairs():
        for side in ("rejected", "proposed"):
            found[f"{pair.name}/{side}"] = compiled(pair.patch(side))
    CODES.write_text(json.dumps(found, indent=1) + "\n")
