"""A repeat is refused at each level, a new patch in the same lines is not. Counted over the whole corpus."""

from collections import Counter
from collections.abc import Mapping

import pytest

from expctl.domain.experiment.proposal import Kind, Verdict
from expctl.domain.experiment.record import Artifact, Origin, Record, Rule
from expctl.domain.rules.matching import Candidate, Level, differing_codes, matches
from tests.rules_corpus.corpus import NEW, NOT_BUILT, REPEAT, Pair, codes, compiled, pairs

HOME = "gfx1151-static"


def artifacts(code: str) -> Mapping[str, Artifact]:
    return {} if code == NOT_BUILT else {HOME: Artifact(sha256="", code=code)}


def rejected(pair: Pair) -> Record:
    """The record that the first patch would have left."""
    identity = pair.identity("rejected")
    both = {"baseline": artifacts(codes()["baseline"]), "candidate": artifacts(codes()[f"{pair.name}/rejected"])}
    changed = differing_codes(both["baseline"], both["candidate"])
    return Record(
        id="P1",
        title=pair.name,
        kind=Kind.PERF,
        origin=Origin.MEASURED,
        target=HOME,
        verdict=Verdict.REJECT,
        reasons=("slower",),
        artifacts=both,
        rule=Rule(
            text=pair.name,
            patch_id=identity.patch_id,
            change=identity.change,
            settings=identity.settings,
            forbids=pair.forbids,
            code=changed.get(HOME, ""),
            judged=HOME,
        ),
    )


def known_by(pair: Pair) -> Level | None:
    """The level at which the second patch of a pair is refused."""
    after = artifacts(codes()[f"{pair.name}/proposed"])
    candidate = Candidate(
        identity=pair.identity("proposed"),
        codes=differing_codes(artifacts(codes()["baseline"]), after),
        built=tuple(after),
    )
    found = matches([rejected(pair)], candidate, own_id="P2")
    return found[0].level if found else None


@pytest.mark.parametrize("pair", pairs(), ids=lambda pair: f"{pair.kind}-{pair.name}")
def test_a_pair_is_known_by_its_level(pair: Pair) -> None:
    assert known_by(pair) == pair.level


def test_nothing_new_is_refused_and_repeats_are_caught() -> None:
    answers = [(pair, known_by(pair)) for pair in pairs()]
    repeats = [level for pair, level in answers if pair.kind == REPEAT]
    new = [level for pair, level in answers if pair.kind == NEW]
    assert (len(repeats) >= 30, len(new) >= 30) == (True, True)
    assert [level for level in new if level is not None] == []
    assert sum(level is not None for level in repeats) >= len(repeats) - 2
    compiled = {Level.MEANING, Level.INSTRUCTION, Level.NEAR}  # those need a compiler: strangers/
    assert set(Counter(level for level in repeats if level is not None)) == set(Level) - compiled


def test_no_pair_is_told_apart_by_its_patches_being_empty() -> None:
    for pair in pairs():
        for which in ("rejected", "proposed"):
            identity = pair.identity(which)
            assert identity.patch_id, pair.name
            assert identity.change, pair.name


@pytest.mark.parametrize("name", ["same-code-helper", "same-code-const"])
def test_other_source_compiles_to_the_same_machine_code(name: str) -> None:
    (pair,) = (each for each in pairs() if each.name == name)
    assert pair.patch("rejected") != pair.patch("proposed")
    assert compiled(pair.patch("rejected")) == compiled(pair.patch("proposed")) == codes()[f"{name}/rejected"]
    assert codes()[f"{name}/rejected"] != codes()["baseline"]
