"""Patches against the kernel of this repository, asked of its own rules: repeats of what was rejected, and honest neighbours.

Those called R and H were written, labelled and asked before their author had read any matching code (pairs.yaml has their
halves); those called J and K are honest ones by the same author, written afterwards. `known` is what rules answer now, misses
included.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

from expctl import wiring
from expctl.adapters.codec.strict_yaml import load
from expctl.adapters.git.reader import locate
from expctl.adapters.rules.lookup import RuleLookup
from expctl.flow.rules.repeat_check import matching_rules
from tests.rules_corpus.strangers.corpus import HONEST, REPEAT, unpacked
from tests.rules_corpus.test_own_rules import WHO, repository

FOLDER = Path(__file__).parent
QUICK = ("R13", "R17", "R18", "R19", "R24", "H02", "H13", "J01", "J09")
"""Patches that repeat an experiment whose rule is kept in words: one target has to be compiled for them."""
WITHOUT_A_PATCH = {"P2", "P3", "P4", "P7", "P8", "P13", "P14"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A patch: which rejected experiments it repeats (none: it is honest), how it is spelt or what is new, which rules know it,
    as `P7 instruction`, and which show it as close. `half` says when its author saw how it is known.
    """

    name: str
    repeats: tuple[str, ...] = ()
    half: str
    way: str
    why: str
    needs: str = ""
    known: tuple[str, ...] = ()
    close: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """Is it a repeat, or honest?"""
        return REPEAT if self.repeats else HONEST


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """pairs.yaml, typed."""

    pairs: tuple[Pair, ...] = field(default_factory=tuple)


@cache
def pairs() -> dict[str, Pair]:
    return {each.name: each for each in load((FOLDER / "pairs.yaml").read_bytes(), Pairs, where="pairs.yaml").pairs}


def book(root: Path, rules: set[str]) -> tuple[RuleLookup, str]:
    """Some rules of the history (none named: all) on the kernel. The one line of P33's patch around it that reads otherwise now
    is changed, since its own baseline isn't there to compile it on.
    """
    repository(root / "repository", "head", rules, is_short=bool(rules))
    rejected = root / "repository" / "experiments" / "P33" / "change.patch"
    if rejected.is_file():
        text = rejected.read_text()
        assert text.count("kBlockColumns") == 2
        rejected.write_text(text.replace("kBlockColumns", "kProductColumns"))
        subprocess.run(["git", *WHO, "commit", "-q", "-a", "-m", "P33 fits"], cwd=root / "repository", check=True)
    place = locate(root / "repository")
    git = wiring.reader(place)
    return wiring.rulebook(place, git), git.head()


def told(asked: tuple[RuleLookup, str], name: str) -> tuple[list[str], list[str]]:
    """Which rules in force know a patch, and which are close to it."""
    found = matching_rules(*asked, unpacked("patches.tar.xz", FOLDER)[f"{name}.patch"])
    known = [f"{match.record.id} {match.level}" for match, changed in found.matches if not changed]
    return sorted(known), sorted(each.record.id for each in found.near)


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> tuple[RuleLookup, str]:
    return book(tmp_path_factory.mktemp("words"), WITHOUT_A_PATCH)


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> tuple[RuleLookup, str]:
    return book(tmp_path_factory.mktemp("all"), set())


@pytest.mark.parametrize("name", QUICK)
def test_rules_in_words(words: tuple[RuleLookup, str], name: str) -> None:
    assert told(words, name) == ([*pairs()[name].known], [])


@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", pairs())
def test_all_rules(history: tuple[RuleLookup, str], name: str) -> None:
    pair = pairs()[name]
    if pair.needs and shutil.which(pair.needs) is None:
        pytest.skip(f"{pair.needs} compiles what this patch changes")
    assert told(history, name) == ([*pair.known], [*pair.close])


def test_no_honest_patch_is_refused_and_most_repeats_are() -> None:
    """What was measured, as a whole."""
    repeats = [each for each in pairs().values() if each.kind == REPEAT]
    assert [each.name for each in pairs().values() if each.kind == HONEST and each.known] == []
    assert sum(bool(each.known) for each in repeats) >= 0.75 * len(repeats) > 20
    assert [each.name for each in repeats if not {*each.repeats} >= {known.split()[0] for known in each.known}] == []
