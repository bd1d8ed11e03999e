"""Records and their siblings: decoded by msgspec as strictly as by the decoder that finds every problem."""

import copy
import json
import re
import typing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchmarks.scale.history import records
from expctl.adapters.codec.decode import Problems, decode, encode
from expctl.adapters.codec.record_codec import (
    indented,
    profile_bytes,
    profile_of,
    record_bytes,
    record_of,
    samples_bytes,
    samples_of,
    ticket_bytes,
    typed_json,
    with_parts,
)
from expctl.domain.errors import Refused
from expctl.domain.experiment.finding import FindingsFile
from expctl.domain.experiment.proposal import Proposal
from expctl.domain.experiment.queue_ticket import Ticket
from expctl.domain.experiment.record import BenchmarkIdentity, Record
from expctl.domain.protocol.model import Protocol
from expctl.domain.verdict.calibration import Calibration
from expctl.domain.verdict.samples import Sample
from tests.refusals import refuses

POINT = re.compile(rb"(?<=[0-9])\.0(?![0-9])")  # of a number that is whole
EXPERIMENTS = Path(__file__).parents[3] / "experiments"
STICK = BenchmarkIdentity(harness="h", kpi="n=512 (1)", build="zig-cpu")
MADE = list(records(60, 5, yardsticks={"here": STICK, "gpu": STICK}, protocol="p"))
ODD = st.sampled_from([None, True, 0, 1, -1.5, "", "KEEP", "x", [], [1], ["a", "b"], {}, {"name": "x"}, {"unknown": 1}])
READ: tuple[Any, ...] = (Record, Sample, Ticket, Calibration, Protocol, Proposal, FindingsFile)


def rewritten(file: Path) -> bytes:
    """The file, decoded and encoded."""
    text, where = file.read_bytes(), str(file)
    if file.name == "record.json":
        return record_bytes(record_of(text, where=where))
    if file.name == "samples.jsonl":
        return samples_bytes(samples_of(text, where=where))
    if file.name == "profile.json":
        return profile_bytes(profile_of(text, where=where))
    return ticket_bytes(typed_json(text, Ticket, where=where))


@pytest.mark.parametrize("name", ["record.json", "samples.jsonl", "profile.json", "queued.json"])
def test_a_committed_file_says_the_same_when_it_is_written_again(name: str) -> None:
    """A figure that was whole in memory was written without a point. It is the same number: `187` comes back as `187.0`."""
    for file in sorted(EXPERIMENTS.glob(f"*/{name}")):
        text, again = file.read_bytes(), rewritten(file)
        assert POINT.sub(b"", again) == POINT.sub(b"", text), str(file)


def test_a_committed_record_that_gets_a_new_part_keeps_every_other_byte() -> None:
    """A part is exchanged in the text as it stands, so that no figure is written in another way."""
    files = sorted(EXPERIMENTS.glob("*/record.json"))
    assert len(files) > 20
    assert [str(file) for file in files if with_parts(file.read_bytes(), {}) != file.read_bytes()] == []


def places(plain: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every path into a document."""
    inner = plain.items() if isinstance(plain, dict) else enumerate(plain) if isinstance(plain, list) else ()
    return [path, *(each for key, value in inner for each in places(value, (*path, key)))]


def spoilt(plain: Any, path: tuple[Any, ...], odd: Any, *, gone: bool) -> Any:
    """`plain` with something odd at `path`, or nothing there."""
    if not path:
        return odd
    made = copy.deepcopy(plain)
    inner = made
    for key in path[:-1]:
        inner = inner[key]
    if gone:
        del inner[path[-1]]
    else:
        inner[path[-1]] = odd
    return made


@given(st.data(), st.sampled_from(MADE), ODD, st.booleans())
def test_a_spoilt_record_is_refused_exactly_where_the_other_decoder_finds_a_problem(
    data: st.DataObject, record: Record, odd: Any, gone: bool
) -> None:
    plain = encode(record)
    document = spoilt(plain, data.draw(st.sampled_from(places(plain))), odd, gone=gone)
    problems = Problems()
    value = decode(document, Record, problems)
    text = json.dumps(document).encode()
    if problems.found:
        with pytest.raises(Refused) as refusal:
            record_of(text, where="here")
        assert refusal.value.found == "\n".join(problems.found[:10])
    else:
        assert record_of(text, where="here") == value


def test_a_damaged_record_is_refused_with_every_problem() -> None:
    plain = json.loads(record_bytes(MADE[-1]))
    del plain["id"]
    plain["kind"] = "none"
    with pytest.raises(Refused) as refusal:
        record_of(json.dumps(plain).encode(), where="here")
    assert "id: missing" in refusal.value.found
    assert "kind: expected one of" in refusal.value.found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b'{"id": "P1", "id": "P1"}', "a key appears twice"),
        (b'{"rule": {"conditions": {"a": "1", "a": "2"}}}', "a key appears twice"),
        (b"\xff", "'utf-8' codec can't decode"),
        (b"[" * 100_000, "recursion"),
        (b'{"a": NaN}', "NaN is not a number"),
        (b'{"a": 1,}', "line 1 column"),
        (b"9" * 5000, "Exceeds the limit"),
        (b"", "Expecting value"),
    ],
)
def test_what_is_not_json_is_refused_with_the_reason(text: bytes, found: str) -> None:
    with pytest.raises(Refused, match="here is damaged") as refusal:
        record_of(text, where="here")
    assert refusal.value.found.startswith("not JSON: ")
    assert found in refusal.value.found


@pytest.mark.parametrize("twice", [b'{"a": [], "a": []}', b'{"a": [], "\\u0061": []}', b'{ "a" : [{"name":"n","name":"n"}]}'])
def test_a_key_twice_is_found_however_it_is_written(twice: bytes) -> None:
    with pytest.raises(Refused, match="here is damaged") as refusal:
        profile_of(twice, where="here")
    assert "a key appears twice" in refusal.value.found


@pytest.mark.parametrize("value", ["1e-05", "1E5", "0.10", "1.0e0", "36893488147419103232", "-0.0"])
def test_a_number_that_is_written_in_another_way_is_read_as_by_the_standard_library(value: str) -> None:
    text = f'{{"a": [{{"name": "\\u00e9\\ud800", "value": {value}}}]}}'
    (fact,) = profile_of(text.encode(), where="here")["a"]
    assert (fact.name, repr(fact.value)) == ("é\ud800", repr(float(value)))


def classes(wanted: Any) -> set[Any]:
    """Every struct in the annotations of `wanted`, itself included."""
    found = {wanted} if isinstance(wanted, type) and issubclass(wanted, msgspec.Struct) else set()
    inner = typing.get_type_hints(wanted).values() if found else typing.get_args(wanted)
    return found.union(*(classes(each) for each in inner))


CLASSES: set[Any] = {each for wanted in READ for each in classes(wanted)}


@pytest.mark.parametrize("wanted", sorted(CLASSES, key=str))
def test_no_class_that_is_read_ignores_an_unknown_key(wanted: Any) -> None:
    with pytest.raises(msgspec.ValidationError, match=r"unknown field `surprise`|missing required"):
        msgspec.convert({"surprise": 1}, wanted)
    assert wanted.__struct_config__.forbid_unknown_fields
    assert wanted.__struct_config__.frozen


@pytest.mark.parametrize("path", [("schema",), ("attempts",), ("test", "cases"), ("procedure", "search_rounds")])
def test_a_count_below_zero_is_damage(path: tuple[str, ...]) -> None:
    plain = json.loads((Path(__file__).parents[3] / "experiments/P24/record.json").read_text())
    broken = spoilt(plain, path, -1, gone=False)
    with pytest.raises(Refused) as refusal:
        record_of(json.dumps(broken).encode(), where="record.json")
    assert refusal.value.found == f"{'.'.join(path)}: expected at least 0, found -1"


@pytest.mark.parametrize("number", ["1e999", "-1e999"])
def test_a_number_without_end_is_damage(number: str) -> None:
    text = (Path(__file__).parents[3] / "experiments/P24/record.json").read_text()
    first = next(line for line in text.splitlines() if '"effect_percent"' in line)
    broken = text.replace(first, first.partition(":")[0] + f": {number},", 1)
    assert broken != text
    with refuses("file-damaged"):
        record_of(broken.encode(), where="record.json")


@pytest.mark.parametrize("changes", [{"schema": 99}, {"mood": "good"}, {"schema": 99, "verdict": {"word": "KEEP"}}])
def test_what_a_newer_version_wrote_is_not_called_damaged(changes: dict[str, object]) -> None:
    plain = json.loads((Path(__file__).parents[3] / "experiments/P17/record.json").read_bytes())
    with refuses("file-of-newer-expctl") as caught:
        record_of(json.dumps(plain | changes).encode(), where="experiments/P17/record.json")
    assert "upgrade expctl" in caught.value.hint
    assert "git checkout" not in caught.value.hint


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(PLAIN)
@example({"half": "\udc80", "empty": [{}, [], ""], "tiny": 1e-07, "large": 10**30})
def test_records_are_indented_as_the_standard_library_does_it(plain: object) -> None:
    text = json.dumps(plain, indent=1, ensure_ascii=False) + "\n"
    assert indented(plain) == text.encode(errors="backslashreplace")
