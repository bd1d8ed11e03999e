"""120 patches against the kernel: sixty spell one of sixteen rejected changes in another way, sixty are honest.

A stranger wrote them who had read no matching code; half of them were unseen until that code was written. `known` in
pairs.yaml is what the rules answer now, misses included.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
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
from expctl.domain.experiment.record import Artifact, Origin, Record, Rule
from expctl.domain.patch.identity import ChangeIdentity, identify
from expctl.domain.patch.unified_diff import parse_diff, texts_of
from expctl.domain.rules.matching import Candidate, differing_codes, matches
from expctl.flow.rules.repeat_check import matching_rules
from tests.rules_corpus.spellings.builds import HOME, codes
from tests.rules_corpus.strangers.corpus import HONEST, REPEAT, unpacked
from tests.rules_corpus.test_own_rules import CPU_FLAGS, ONE_CONFIG, ROOT, WHO

FOLDER = Path(__file__).parent
QUICK = ("c010", "c084", "c108")
CAUGHT_LEAST, CAUGHT_IN_ALL_LEAST = 54, 57
Artifacts = dict[str, Mapping[str, Artifact]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """A rejected change, and the target that it failed on."""

    name: str
    target: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A patch: the rejected change that it repeats, or that it is next to. `known` are the rejected changes by which it is
    refused before anything is built, each with the level; `after` those by which it is refused once it is.
    """

    name: str
    rejected: str
    kind: str
    way: str
    why: str
    known: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


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


def record(number: int, rejected: Rejected, kernel: dict[str, str], artifacts: Artifacts | None = None) -> Record:
    """The record that a rejected change would have left, if what was built of it is `artifacts`, by side and target."""
    patch = patch_of(rejected.name)
    said = subprocess.run(["git", "patch-id", "--stable"], input=patch, capture_output=True, check=True).stdout.split()
    found = identify(texts_of(parse_diff(patch), kernel), patch_id=said[0].decode())
    changed = differing_codes(*artifacts.values()) if artifacts else {}
    rule = Rule(
        text=rejected.title,
        patch_id=found.patch_id,
        change=found.change,
        settings=found.settings,
        region=found.region,
        shapes=found.shapes,
        judged=rejected.target,
        code=changed.get(HOME, ""),
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
        artifacts=artifacts or {},
    )


def patch_of(name: str) -> bytes:
    return unpacked("patches.tar.xz", FOLDER)[f"{name}.patch"]


@cache
def kernel_files() -> dict[str, str]:
    return {path: text.decode() for path, text in unpacked("kernel.tar.xz", FOLDER).items()}


def protocol_text() -> str:
    return (ROOT / "protocol.yaml").read_text().replace(CPU_FLAGS, ONE_CONFIG.replace("2,2,2,2,2,2", "1,8,2,2,8,2"))


def built(name: str = "") -> Mapping[str, Artifact]:
    """The code of a patch, or of the kernel."""
    return codes(patch_of(name) if name else b"", frozenset(kernel_files().items()), protocol_text().encode())


def book(root: Path, names: set[str]) -> tuple[RuleLookup, str]:
    """Some of the rejected changes (none named: all) as rules on the kernel; the CPU build has one config."""
    kernel, protocol = kernel_files(), protocol_text()
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


@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", [each.name for each in pairs().values() if not each.known])
def test_after_the_build(name: str) -> None:
    """What `run` compares once a patch has passed the rules: the code that it made with that of rejected changes."""
    made = differing_codes(built(), built(name))
    candidate = Candidate(identity=ChangeIdentity(), codes=made, built=(*built(name),))
    known = []
    for number, each in enumerate(corpus().rejected, 1):
        both = {"baseline": built(), "candidate": built(each.name)}
        found = matches([record(number, each, kernel_files(), both)], candidate)
        known += [f"{each.name} {match.level}" for match in found]
    assert known == [*pairs()[name].after]


def test_no_honest_patch_is_refused_and_most_repeats_are() -> None:
    """What was measured, as a whole."""
    repeats = [each for each in pairs().values() if each.kind == REPEAT]
    honest = [each for each in pairs().values() if each.kind == HONEST]
    assert (len(repeats), len(honest)) == (60, 60)
    assert [each.name for each in honest if each.known or each.after] == []
    assert sum(bool(each.known) for each in repeats) >= CAUGHT_LEAST
    assert sum(bool(each.known or each.after) for each in repeats) >= CAUGHT_IN_ALL_LEAST
    strange = [each.name for each in repeats if each.known and not any(one.startswith(each.rejected) for one in each.known)]
    assert strange == []
