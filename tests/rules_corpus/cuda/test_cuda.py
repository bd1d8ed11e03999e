"""48 patches against the kernel for sm_90: half of them are one of eight changes in other words, half are honest.

A stranger wrote them who had read no matching code, after four corpora for the CPU and gfx1151. `half` says whether they were
looked at while CUDA sources came to be compared as clang understands them; `known` is what the rules answer since, misses
included. Two rejected changes in one are asked about as the first of them alone.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

from expctl.adapters.codec.strict_yaml import load
from expctl.adapters.git.reader import GitReader, locate
from expctl.adapters.rules.compiled_versions import CompiledVersions
from expctl.domain.protocol.model import Protocol, Toolchain
from expctl.domain.rules.meaning import Version
from expctl.flow.rules.resemblance import Pair as Change
from expctl.flow.rules.resemblance import resemblance
from expctl.ports.measuring import Recipe
from expctl.targets.sm_90 import NVCC as RECIPE
from tests.rules_corpus.strangers.corpus import HONEST, REPEAT, unpacked
from tests.rules_corpus.test_own_rules import NVCC, WHO

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A rejected change and a candidate: how that repeats it or is next to it, and the level at which it is known."""

    name: str
    half: str
    rejected: str
    candidate: str
    kind: str
    way: str
    why: str
    known: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """pairs.yaml, typed."""

    pairs: tuple[Pair, ...] = field(default_factory=tuple)


@cache
def pairs() -> dict[str, Pair]:
    found = load((FOLDER / "pairs.yaml").read_bytes(), Pairs, where="pairs.yaml").pairs
    return {f"{each.half}-{each.name}": each for each in found}


@pytest.fixture(scope="module")
def compilers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CompiledVersions]:
    """What compiles the kernel, in a repository of its own."""
    root = tmp_path_factory.mktemp("cuda")
    for path, text in unpacked("kernel.tar.xz", FOLDER).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text)
    for words in (("init", "-q"), ("add", "-A"), (*WHO, "commit", "-q", "-m", "kernel")):
        subprocess.run(["git", *words], cwd=root, check=True)
    protocol = load((FOLDER.parents[2] / "protocol.yaml").read_bytes(), Protocol, where="protocol.yaml")
    state = root / ".git" / "meanings"
    recipes: Mapping[Toolchain, Recipe] = dict.fromkeys(Toolchain, RECIPE)
    yield CompiledVersions(GitReader(locate(root)), recipes, state=state, mark="corpus", protocol=protocol)
    shutil.rmtree(state)


@NVCC
@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", pairs())
def test_a_pair_is_known_as_it_was(compilers: CompiledVersions, name: str) -> None:
    pair, patches = pairs()[name], unpacked("patches.tar.xz", FOLDER)
    head = str(compilers._git.place.head)
    rejected, candidate = (
        Change(before=Version(head), after=Version(head, patches[f"{each}.patch"])) for each in (pair.rejected, pair.candidate)
    )
    assert str(resemblance(compilers, rejected, candidate, ["sm_90"]).level or "") == pair.known


def test_no_honest_patch_is_refused_and_half_of_the_repeats_are() -> None:
    """What was measured, as a whole."""
    repeats, honest = ([each for each in pairs().values() if each.kind == kind] for kind in (REPEAT, HONEST))
    assert (len(repeats), len(honest)) == (24, 24)
    assert [each.name for each in honest if each.known] == []
    assert sum(bool(each.known) for each in repeats) >= 12
