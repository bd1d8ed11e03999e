"""Typed decoding of plain data, and what is encoded comes back."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expctl.adapters.codec.decode import Problems, decode, encode
from expctl.adapters.codec.record_codec import (
    profile_bytes,
    profile_of,
    record_bytes,
    record_of,
    samples_bytes,
    samples_of,
)
from expctl.domain.errors import Refused
from expctl.domain.experiment.history import History
from expctl.domain.experiment.proposal import Kind, Mode, Prediction, Proposal, Verdict
from expctl.domain.experiment.record import Artifact, Estimate, Fact, Origin, Record, Replication, Rule
from expctl.domain.experiment.record import Test as Tried
from expctl.domain.protocol.model import NumberKind, Protocol, Style
from expctl.domain.verdict.samples import Sample, Side
from tests.refusals import refuses

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
FACTS = st.builds(Fact, name=TEXT, value=NUMBER, unit=TEXT, kind=st.sampled_from(NumberKind))
SAMPLES = st.builds(
    Sample, ns=st.lists(st.integers(1, 2**53), max_size=4).map(tuple), taints=st.lists(TEXT, max_size=2).map(tuple)
)
TABLE = st.dictionaries(TEXT, TEXT, max_size=2)
ARTIFACTS = st.dictionaries(
    TEXT,
    st.dictionaries(
        TEXT,
        st.builds(
            Artifact,
            sha256=TEXT,
            code=TEXT,
            facts=st.lists(FACTS, max_size=2).map(tuple),
            layouts=st.lists(TEXT, max_size=2).map(tuple),
        ),
        max_size=2,
    ),
    max_size=2,
)
ESTIMATES = st.lists(
    st.builds(
        Estimate,
        size=TEXT,
        effect_percent=NUMBER,
        low_percent=NUMBER,
        high_percent=NUMBER,
        sd_percent=NUMBER,
        rounds=st.integers(0, 99),
        baseline_ns=NUMBER,
    ),
    max_size=2,
).map(tuple)
PREDICTIONS = st.builds(
    Prediction, verdict=st.sampled_from(Verdict), gain_percent=st.none() | st.tuples(NUMBER, NUMBER), text=TEXT
)
TEXTS = st.lists(TEXT, max_size=2).map(tuple)
RECORDS = st.builds(
    Record,
    id=TEXT,
    title=TEXT,
    kind=st.sampled_from(Kind),
    origin=st.sampled_from(Origin),
    target=TEXT,
    verdict=st.sampled_from(Verdict),
    reasons=TEXTS,
    prediction=st.none() | PREDICTIONS,
    artifacts=ARTIFACTS,
    environment=TABLE,
    test=st.none() | st.builds(Tried, ok=st.booleans(), cases=st.integers(0), summary=TEXT),
    number_kind=st.sampled_from(NumberKind),
    estimates=ESTIMATES,
    notes=TEXTS,
    rule=st.none() | st.builds(Rule, text=TEXT, patch_id=TEXT, conditions=TABLE),
    history=st.none() | st.builds(History, change=TEXT, result=TEXT, why=TEXT, corrections=TEXTS),
    replications=st.lists(
        st.builds(
            Replication,
            target=TEXT,
            date=TEXT,
            verdict=st.sampled_from(Verdict),
            reasons=TEXTS,
            estimates=ESTIMATES,
            environment=TABLE,
        ),
        max_size=1,
    ).map(tuple),
)


@given(RECORDS)
def test_a_record_comes_back_and_is_written_the_same_again(record: Record) -> None:
    text = record_bytes(record)
    assert record_of(text, where="record.json") == record
    assert record_bytes(record_of(text, where="record.json")) == text


@given(st.lists(SAMPLES, max_size=3).map(tuple))
def test_samples_come_back(samples: tuple[Sample, ...]) -> None:
    assert samples_of(samples_bytes(samples), where="samples.jsonl") == samples


@given(st.dictionaries(st.sampled_from(["baseline", "candidate"]), st.lists(FACTS, max_size=3).map(tuple)))
def test_a_profile_comes_back(profile: dict[str, tuple[Fact, ...]]) -> None:
    assert profile_of(profile_bytes(profile), where="profile.json") == profile


@given(st.builds(Proposal, id=TEXT, prediction=PREDICTIONS, mode=st.sampled_from(Mode), depends_on=TEXTS))
def test_a_proposal_comes_back(proposal: Proposal) -> None:
    problems = Problems()
    assert decode(json.loads(json.dumps(encode(proposal))), Proposal, problems) == proposal
    assert problems.found == []


def test_defaults_are_left_out() -> None:
    record = Record(
        id="P1",
        title="t",
        kind=Kind.PERF,
        origin=Origin.MEASURED,
        target="cpu",
        verdict=Verdict.KEEP,
        reasons=("r",),
    )
    assert list(encode(record)) == ["id", "title", "kind", "origin", "target", "verdict", "reasons"]


def test_a_lone_surrogate_that_a_harness_said_can_be_recorded() -> None:
    reason = json.loads('"bad \\ud800 reason"')
    record = Record(
        id="P1",
        title="t",
        kind=Kind.PERF,
        origin=Origin.MEASURED,
        target="cpu",
        verdict=Verdict.REJECT,
        reasons=(reason,),
    )
    assert record_of(record_bytes(record), where="record.json").id == "P1"


WRONG: dict[str, tuple[Any, Any, str]] = {
    "a boolean for an int": (True, int, "the file: expected a whole number, found True"),
    "a float for an int": (1.0, int, "the file: expected a whole number, found 1.0"),
    "text for an int": ("1", int, "the file: expected a whole number, found '1'"),
    "a boolean for a float": (False, float, "the file: expected a number, found False"),
    "text for a float": ("1.5", float, "the file: expected a number, found '1.5'"),
    "an int for a boolean": (1, bool, "the file: expected true or false, found 1"),
    "an int for text": (1, str, "the file: expected text, found 1"),
    "nothing for text": (None, str, "the file: expected text, found nothing"),
    "a list for a word": (["KEEP"], Verdict, "the file: expected one of KEEP, "),
    "an unknown word": ("keep", Verdict, "the file: expected one of KEEP, "),
    "text for a tuple": ("ab", tuple[str, ...], "the file: expected a list, found 'ab'"),
    "a short pair": ([1], tuple[float, float], "the file: expected a list of 2, found a list of 1"),
    "a list for a dataclass": ([], Protocol, "the file: expected a mapping, found a list of 0"),
    "a long text": ("x" * 500, int, "the file: expected a whole number, found 'xxx"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_type_is_one_problem_and_nothing_is_coerced(name: str) -> None:
    raw, wanted, problem = WRONG[name]
    problems = Problems()
    assert decode(raw, wanted, problems) is None
    (found,) = problems.found
    assert found.startswith(problem)
    assert len(found) < 200


def test_an_int_is_a_float_but_stays_exact() -> None:
    problems = Problems()
    assert decode(3, float, problems) == 3.0
    assert isinstance(decode(3, float, problems), float)
    assert problems.found == []


DAMAGED: dict[str, bytes] = {
    "no JSON": b"{",
    "a list": b"[]",
    "nothing": b"",
    "not UTF-8": b'{"id": "\xff"}',
    "NUL": b"\0",
    "deep": b"[" * 50_000,
    "missing": b'{"id":"P1"}',
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_record_is_refused_naming_the_file(name: str) -> None:
    with refuses("file-damaged") as caught:
        record_of(DAMAGED[name], where="experiments/P1/record.json")
    assert caught.value.where == "experiments/P1/record.json"


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity"])
def test_what_is_not_a_number_in_json_is_refused(value: str) -> None:
    with pytest.raises(Refused):
        profile_of(f'{{"baseline": [{{"name": "n", "value": {value}}}]}}'.encode(), where="profile.json")


def test_a_key_twice_in_json_is_refused() -> None:
    with pytest.raises(Refused):
        profile_of(b'{"baseline": [], "baseline": [{"name": "n", "value": 1}]}', where="profile.json")


def test_the_first_bad_line_of_samples_is_named() -> None:
    good = samples_bytes(
        [
            Sample(
                round=0,
                launch=0,
                side=Side.BASELINE,
                size="n",
                style=Style.FINE,
                visit=1,
                ns=(1,),
                order="A",
            )
        ]
    )
    with refuses("file-damaged") as caught:
        samples_of(good + b"{}\n" + good, where="samples.jsonl")
    assert caught.value.where == "samples.jsonl, line 2"
