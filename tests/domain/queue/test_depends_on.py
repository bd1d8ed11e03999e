"""Conditions: what parses, what doesn't, and what is known of them."""

import contextlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expctl.domain.experiment.proposal import Kind, Verdict
from expctl.domain.experiment.record import Artifact, Estimate, Fact, Origin, Record
from expctl.domain.queue.dependency_answer import Answer, Concluded, Hopeless, Pending, Truth, answer, fault_of
from expctl.domain.queue.depends_on import AllOf, AnyOf, Comparison, Operator, Unparsable, comparisons, parse

KEPT = Comparison("P15", ("verdict",), Operator.EQUAL, "KEEP")
RECORD = Record(
    id="P15",
    title="t",
    kind=Kind.PERF,
    origin=Origin.MEASURED,
    target="cpu",
    verdict=Verdict.KEEP,
    reasons=("r",),
    artifacts={
        "baseline": {"home": Artifact(sha256="a", code="a", facts=(Fact(name="vgpr", value=100),))},
        "candidate": {"home": Artifact(sha256="b", code="b", facts=(Fact(name="vgpr", value=150),))},
    },
    estimates=(
        Estimate(size="n=512", effect_percent=2.5, low_percent=1.0, high_percent=4.0, sd_percent=1, rounds=5),
        Estimate(size="objective", effect_percent=3.0, low_percent=2.0, high_percent=4.0, sd_percent=1, rounds=5),
    ),
)
PROFILE = {
    "baseline": (Fact(name="LDS passes", value=10), Fact(name="zero", value=0)),
    "candidate": (Fact(name="LDS passes", value=15), Fact(name="hit ratio", value=0.5), Fact(name="zero", value=3)),
    "home candidate": (Fact(name="LDS passes", value=7),),
}
RESULTS: dict[str, Concluded | Pending | Hopeless] = {
    "P15": Concluded(RECORD, PROFILE),
    "P1": Pending("P1 has not run yet"),
    "P2": Hopeless("P2 was withdrawn"),
}


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("P15", KEPT),
        (" P15.verdict == KEEP ", KEPT),
        ('P15.verdict=="KEEP"', KEPT),
        ("P15.verdict != NO-OP", Comparison("P15", ("verdict",), Operator.UNEQUAL, "NO-OP")),
        ("P6-A.build.vgpr <= 128", Comparison("P6-A", ("build", "vgpr"), Operator.AT_MOST, 128.0)),
        ('P15.effect."n=512".low>-0.5', Comparison("P15", ("effect", "n=512", "low"), Operator.MORE, -0.5)),
        ("P1 and P2 or P3", AnyOf((AllOf((parse("P1"), parse("P2"))), parse("P3")))),
        ("P1 and (P2 or P3)", AllOf((parse("P1"), AnyOf((parse("P2"), parse("P3")))))),
    ],
)
def test_what_parses(text: str, parsed: object) -> None:
    assert parse(text) == parsed


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "column 1: expected an experiment id such as P15, found the end"),
        ("P15.verdict", "column 12: expected one of ==, !=, <, <=, >, >= after P15.verdict, found the end"),
        ("P15 P16", "column 5: expected and, or, or the end, found 'P16'"),
        ("P15.verdict == ", "expected a number or a word"),
        ("(P15", "expected a closing bracket"),
        ("x15", "column 1: expected an experiment id such as P15, found 'x15'"),
        ("P15.verdict = KEEP", "column 13: expected == for 'is equal to', found '= KEEP'"),
        ("not P15", "expected an experiment id"),
        ("P15.verdict == 3x", "found '3x'"),
        ("().__class__", "column 3: expected a condition, found '.__class__'"),
        ("(" * 30 + "P1" + ")" * 30, "at most 20 brackets"),
        ("P1 or " * 100 + "P1", "at most 500 characters"),
    ],
)
def test_what_does_not_parse_says_where(text: str, said: str) -> None:
    with pytest.raises(Unparsable) as caught:
        parse(text)
    assert said in str(caught.value)


@given(st.text(max_size=60))
def test_any_text_parses_or_is_refused(text: str) -> None:
    with contextlib.suppress(Unparsable):
        assert comparisons(parse(text))


@given(
    st.sampled_from(["P1", "P8b", "P6-A2"]),
    st.lists(
        st.text(st.characters(codec="ascii", exclude_characters='"', categories=["L", "N", "P"]), min_size=1),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from(list(Operator)),
    st.one_of(st.integers(-999, 999).map(float), st.sampled_from(["KEEP", "NO-OP"])),
)
def test_a_comparison_reads_back_from_its_own_words(
    experiment: str, names: list[str], operator: Operator, value: str | float
) -> None:
    condition = Comparison(experiment, tuple(names), operator, value)
    assert parse(str(condition)) == condition


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("P15", (Truth.HOLDS, "P15 ended in KEEP")),
        ("P15.verdict == REJECT", (Truth.NEVER, "P15 ended in KEEP")),
        ("P15.verdict != REJECT", (Truth.HOLDS, "P15 ended in KEEP")),
        ("P15.target == cpu", (Truth.HOLDS, "P15.target is cpu")),
        ("P15.effect.objective > 2.9", (Truth.HOLDS, "P15.effect.objective is 3")),
        ('P15.effect."n=512".low >= 1.5', (Truth.NEVER, "P15.effect.n=512.low is 1")),
        ("P15.build.home.vgpr <= 128", (Truth.NEVER, "P15.build.home.vgpr is 150")),
        ("P15.build.home.vgpr_baseline == 100", (Truth.HOLDS, "P15.build.home.vgpr_baseline is 100")),
        ("P15.build.vgpr <= 128", (Truth.NEVER, "P15.build.vgpr is not known: P15 ended in KEEP without it")),
        ("P15.profile.lds_passes_ratio > 1.2", (Truth.HOLDS, "P15.profile.lds_passes_ratio is 1.5")),
        ("P15.profile.home.lds_passes < 8", (Truth.HOLDS, "P15.profile.home.lds_passes is 7")),
        ("P15.profile.hit_ratio == 0.5", (Truth.HOLDS, "P15.profile.hit_ratio is 0.5")),
        ("P15.profile.zero_ratio > 1", (Truth.NEVER, "P15.profile.zero_ratio is not known: P15 ended in KEEP without it")),
        ("P1", (Truth.OPEN, "P1 has not run yet")),
        ("P2.verdict != KEEP", (Truth.NEVER, "P2 was withdrawn")),
        ("P99", (Truth.OPEN, "there is no P99")),
        ("P15 and P1", (Truth.OPEN, "P1 has not run yet")),
        ("P1 and P2", (Truth.NEVER, "P2 was withdrawn")),
        ("P2 or P1", (Truth.OPEN, "P1 has not run yet")),
        ("P2 or P1 or P15", (Truth.HOLDS, "P15 ended in KEEP")),
        ("P2 or P15.verdict == NO-OP", (Truth.NEVER, "P2 was withdrawn; P15 ended in KEEP")),
    ],
)
def test_what_is_known_of_a_condition(text: str, known: tuple[Truth, str]) -> None:
    assert answer(parse(text), RESULTS) == Answer(*known)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("P1", ""),
        ("P1.effect.objective.low > 1", ""),
        ('P1.effect."n=1" > 1', ""),
        ("P1.profile.anything_at_all > 1", ""),
        ("P1.profile.cpu.anything > 1", ""),
        ("P1.speed > 1", "expected one of verdict, target, effect.SIZE, effect.SIZE.low"),
        ("P1.effect > 1", "found 'effect'"),
        ("P1.verdict < KEEP", "expected verdict with == or != and a word"),
        ("P1.verdict == GOOD", "one of KEEP, REJECT, INCONCLUSIVE, NO-OP, found 'GOOD'"),
        ("P1.verdict == INVALID", "a final verdict"),
        ("P1.target == moon", "one of cpu, found 'moon'"),
        ("P1.effect.n2 > 1", "a size of the KPI (n=1), found 'n2'"),
        ("P1.effect.objective.mid > 1", "expected low or high, found 'mid'"),
        ("P1.build.vgpr == many", "expected a number"),
        ("P1.build.moon.vgpr > 1", "a target of protocol.yaml, one of cpu"),
    ],
)
def test_what_no_result_will_ever_have(text: str, fault: str) -> None:
    (comparison,) = comparisons(parse(text))
    found = fault_of(comparison, ("n=1",), ("cpu",))
    assert fault in found if fault else found == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("P1.effect.objective > 1e999", "a finite number such as 1.5, without an exponent, found '1e999'"),
        ("P1.verdict = KEEP", "== for 'is equal to', found '= KEEP'"),
        ("P1 & P2", "expected a condition, found '& P2'"),
    ],
)
def test_what_is_wrong_with_a_condition_is_said(text: str, said: str) -> None:
    with pytest.raises(Unparsable, match=re.escape(said)):
        parse(text)
