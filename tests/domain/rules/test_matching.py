"""Do-not-repeat rules: what a REJECT leaves, and at which level a repeat is known."""

from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from expctl.domain.experiment.proposal import Kind, Prediction, Probe, Proposal, Verdict
from expctl.domain.experiment.record import Artifact, Origin, Record, Rule
from expctl.domain.patch.identity import ChangeIdentity, identify
from expctl.domain.patch.patterns import pattern_fault
from expctl.domain.patch.unified_diff import FileTexts
from expctl.domain.rules.matching import Candidate, Level, changed_codes, keys_for, keys_of, matches, rule_of

PROPOSAL = Proposal(
    id="P1",
    title="unroll",
    kind=Kind.PERF,
    hypothesis="faster",
    prediction=Prediction(verdict=Verdict.KEEP),
    forbids=(r"unroll 8",),
    probe=Probe(source="x"),
)
IDENTITY = ChangeIdentity(patch_id="abc", change="def", settings={"kRows": "8"}, region={"a.h": ("1",)}, shapes={"a.h": "2"})


def codes(**each: str) -> Mapping[str, Artifact]:
    return {name: Artifact(sha256="", code=code) for name, code in each.items()}


REJECTED = Record(
    id="P1",
    title="unroll",
    kind=Kind.PERF,
    origin=Origin.MEASURED,
    target="cpu",
    verdict=Verdict.REJECT,
    reasons=("slower",),
    environment={"machine": "m"},
    artifacts={"baseline": codes(cpu="c0", home="h0"), "candidate": codes(cpu="c1", home="h1")},
    rule=rule_of(PROPOSAL, "slower", IDENTITY, code="h1", judged="cpu", conditions={"cc": "1"}, worthwhile_percent=0.5),
)


def candidate(
    *, identity: ChangeIdentity | None = None, built: tuple[str, ...] = ("cpu", "home"), machine: str = "m", **made: str
) -> Candidate:
    return Candidate(identity=identity or ChangeIdentity(), codes=made, built=built, machine=machine)


def level(record: Record, what: Candidate, own_id: str = "P2") -> Level | None:
    found = matches([record], what, own_id=own_id)
    return found[0].level if found else None


def test_a_rule_has_the_identity_and_what_the_author_forbids() -> None:
    assert REJECTED.rule == Rule(
        text="unroll: slower",
        patch_id="abc",
        change="def",
        code="h1",
        judged="cpu",
        settings={"kRows": "8"},
        forbids=(r"unroll 8",),
        conditions={"cc": "1"},
        region={"a.h": ("1",)},
        shapes={"a.h": "2"},
        probe=Probe(source="x"),
    )


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        (candidate(identity=ChangeIdentity(patch_id="abc", change="def")), Level.PATCH),
        (candidate(identity=ChangeIdentity(patch_id="other", change="def")), Level.CHANGE),
        (candidate(cpu="c1", home="h2"), Level.CODE),
        (candidate(identity=ChangeIdentity(settings={"kRows": "8"})), Level.SETTINGS),
        (candidate(identity=ChangeIdentity(settings={"kRows": "0x8u"})), Level.SETTINGS),
        (candidate(identity=ChangeIdentity(added=("#pragma unroll 8",))), Level.PATTERN),
        (candidate(identity=ChangeIdentity(patch_id="x", change="y", settings={"kRows": "4"}, added=("unroll 4",))), None),
        (candidate(identity=ChangeIdentity(settings={"kRows": "8", "kColumns": "2"})), None),
    ],
)
def test_the_nearest_level_is_named(what: Candidate, expected: Level | None) -> None:
    assert level(REJECTED, what) == expected


@pytest.mark.parametrize(
    ("within", "function", "expected"),
    [
        ("load", "load", Level.PATTERN),
        ("load", "store", None),
        ("load loop", "load", None),
        ("", "store", Level.PATTERN),
    ],
)
def test_a_pattern_holds_in_the_region_that_its_author_names(within: str, function: str, expected: Level | None) -> None:
    named = replace(PROPOSAL, within=within)
    rule = rule_of(named, "slower", IDENTITY, code="", judged="cpu", conditions={}, worthwhile_percent=0.5)
    text = f"void {function}(int n) {{\n#pragma unroll 8\n  for (int i = 0; i < n; ++i) add(i);\n}}\n"
    patch = identify([FileTexts(path="a.h", before="", after=text, added=(1,), whole=True)], patch_id="x")
    found = matches([replace(REJECTED, rule=rule)], candidate(identity=patch), own_id="P2")
    assert (found[0].level if found else None) == expected
    assert (f", in {within}" in found[0].likeness if found else False) == bool(found and within)


def test_an_experiment_is_no_repeat_of_itself() -> None:
    assert level(REJECTED, candidate(identity=IDENTITY), own_id="P1") is None


def test_words_alone_forbid_nothing() -> None:
    assert level(replace(REJECTED, rule=Rule(text="words")), candidate(cpu="c9")) is None
    assert level(replace(REJECTED, rule=None), candidate(identity=IDENTITY)) is None


def test_the_code_that_was_judged_is_compared_where_it_can_be() -> None:
    mended = candidate(cpu="c2", home="h1")
    assert level(REJECTED, mended) is None, "what failed on the CPU is other code now"
    assert level(REJECTED, replace(mended, machine="another")) is Level.CODE, "no CPU code to compare: the code at home speaks"
    assert level(REJECTED, candidate(built=("home",), home="h1")) is Level.CODE
    assert level(REJECTED, candidate(built=("home",), home="h3")) is None


def test_code_that_equals_the_baseline_is_no_identity() -> None:
    same = replace(
        REJECTED,
        artifacts={"baseline": codes(cpu="c0"), "candidate": codes(cpu="c0")},
        rule=Rule(text="t", judged="cpu"),
    )
    assert changed_codes(same) == {}
    assert level(same, candidate(built=("cpu",))) is None


def test_a_record_of_before_is_judged_on_its_own_target() -> None:
    old = replace(REJECTED, rule=Rule(text="t", patch_id="abc", code="h1"))
    assert level(old, candidate(cpu="c1")) is Level.CODE


@pytest.mark.parametrize(
    "what",
    [
        candidate(identity=ChangeIdentity(patch_id="abc")),
        candidate(identity=ChangeIdentity(change="def")),
        candidate(identity=ChangeIdentity(settings={"kRows": "8"})),
        candidate(cpu="c1", home="h9"),
        candidate(built=("home",), home="h1"),
    ],
)
def test_an_index_finds_whatever_matches(what: Candidate) -> None:
    assert level(REJECTED, what) is not None
    assert REJECTED.rule is not None
    assert set(keys_for(what)) & set(keys_of(REJECTED.rule, changed_codes(REJECTED).values()))


@pytest.mark.parametrize("pattern", ["", "(", "a" * 201, ".*", "(a+)+b", "(a|b*)*", "x{2,3}"])
def test_a_pattern_that_can_not_be_tried_is_a_fault(pattern: str) -> None:
    assert bool(pattern_fault(pattern)) == (pattern != "x{2,3}")
