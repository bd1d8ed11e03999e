"""120 patches against the kernel: sixty spell one of sixteen rejected changes in another way, sixty are honest.

A stranger wrote them who had read no matching code; half of them were unseen until that code was written. `known` in
pairs.yaml is what the rules answer now, misses included.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

from expctl import wiring
from expctl.adapters.codec.record_codec import record_bytes
from expctl.adapters.codec.strict_yaml import load
from expctl.adapters.git.reader import locate
from expctl.adapters.rules.lookup import RuleLookup
from expctl.domain.experiment.proposal import Kind, Verdict
from expctl.domain.experiment.record import Origin, Record, Rule
from expctl.domain.patch.identity import identify
from expctl.domain.patch.unified_diff import parse_diff, texts_of
from expctl.flow.rules.repeat_check import matching_rules
from tests.rules_corpus.strangers.corpus import HONEST, REPEAT, unpacked
from tests.rules_corpus.test_own_rules import CPU_FLAGS, ONE_CONFIG, ROOT, WHO

FOLDER = Path(__file__).parent
QUICK = ("c010", "c084", "c108")
CAUGHT_LEAST = 54


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """A rejected change, and the target that it failed on."""

    name: str
    target: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A patch: the rejected change that it repeats, or that it is next to. `known` are the rejected changes by which it is
    refused, each with the level.
    """

    name: str
    rejected: str
    kind: str
    way: str
    why: str
    known: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """pairs.yaml, typed."""

    rejected: tuple[Rejected, ...] = field(default_factory=tuple)
    pairs: tuple[Pair, ...] = field(default_factory=tuple)


@cache
def corpus() -> Pairs:
    return load((FOLDER / "pairs.yaml").read_bytes(), Pairs, where="pairs.yaml")


def pairs() -> dict[str, Pair]:
    return {each.name: each for each in corpus().pairs}


def record(number: int, rejected: Rejected, kernel: dict[str, str]) -> Record:
    """The record that a rejected change would have left."""
    patch = patch_of(rejected.name)
    said = subprocess.run(["git", "patch-id", "--stable"], input=patch, capture_output=True, check=True).stdout.split()
    found = identify(texts_of(parse_diff(patch), kernel), patch_id=said[0].decode())
    rule = Rule(
        text=rejected.title,
        patch_id=found.patch_id,
        change=found.change,
        settings=found.settings,
        region=found.region,
        shapes=found.shapes,
    )
    return Record(
        id=f"P{number}",
        title=rejected.title,
        kind=Kind.PERF,
        origin=Origin.MEASURED,
        target=rejected.target,
        verdict=Verdict.REJECT,
        reasons=("slower",),
        rule=rule,
    )


def patch_of(name: str) -> bytes:
    return unpacked("patches.tar.xz", FOLDER)[f"{name}.patch"]


def book(root: Path, names: set[str]) -> tuple[RuleLookup, str]:
    """Some of the rejected changes (none named: all) as rules on the kernel; the CPU build has one config."""
    kernel = {path: text.decode() for path, text in unpacked("kernel.tar.xz", FOLDER).items()}
    protocol = (ROOT / "protocol.yaml").read_text().replace(CPU_FLAGS, ONE_CONFIG.replace("2,2,2,2,2,2", "1,8,2,2,8,2"))
    files = {**kernel, "protocol.yaml": protocol, "kernel/harness/harness.py": "", "kernel/runtime/runtime.py": ""}
    for number, each in enumerate(corpus().rejected, 1):
        if not names or each.name in names:
            files[f"experiments/P{number}/record.json"] = record_bytes(record(number, each, kernel)).decode()
            files[f"experiments/P{number}/change.patch"] = patch_of(each.name).decode()
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    for folder in ("expctl/harness", "expctl/tables"):
        shutil.copytree(ROOT / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), (*WHO, "commit", "-q", "-m", "kernel")):
        subprocess.run(["git", *words], cwd=root, check=True)
    place = locate(root)
    git = wiring.reader(place)
    return wiring.rulebook(place, git), git.head()


def known(asked: tuple[RuleLookup, str], name: str) -> list[str]:
    """Which rejected changes know a patch, and how."""
    named = {f"P{number}": each.name for number, each in enumerate(corpus().rejected, 1)}
    found = matching_rules(*asked, patch_of(name))
    return sorted(f"{named[match.record.id]} {match.level}" for match, changed in found.matches if not changed)


@pytest.mark.parametrize("name", QUICK)
def test_its_own_rule(tmp_path: Path, name: str) -> None:
    pair = pairs()[name]
    names = {pair.rejected, *(each.split(" ")[0] for each in pair.known)}
    assert known(book(tmp_path, names), name) == [*pair.known]


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> tuple[RuleLookup, str]:
    return book(tmp_path_factory.mktemp("all"), set())


@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", pairs())
def test_all_rules(everything: tuple[RuleLookup, str], name: str) -> None:
    assert known(everything, name) == [*pairs()[name].known]


def test_no_honest_patch_is_refused_and_most_repeats_are() -> None:
    """What was measured, as a whole."""
    repeats = [each for each in pairs().values() if each.kind == REPEAT]
    honest = [each for each in pairs().values() if each.kind == HONEST]
    assert (len(repeats), len(honest)) == (60, 60)
    assert [each.name for each in honest if each.known] == []
    assert sum(bool(each.known) for each in repeats) >= CAUGHT_LEAST
    strange = [each.name for each in repeats if each.known and not any(one.startswith(each.rejected) for one in each.known)]
    assert strange == []
