"""The quick reader of sound JSON agrees with the strict one on every input, sound or not."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.scale.history import records
from expctl.adapters.codec.decode import Problems, decode, encode
from expctl.adapters.codec.fast_json import Invalid, reader_of
from expctl.adapters.codec.record_codec import record_bytes, record_of
from expctl.domain.errors import Refused
from expctl.domain.experiment.record import BenchmarkIdentity, Fact, Record
from expctl.domain.protocol.model import Protocol
from tests.refusals import refuses

STICK = BenchmarkIdentity(harness="h", kpi="n=512 (1)", build="zig-cpu")
MADE = list(records(60, 5, yardsticks={"here": STICK, "gpu": STICK}, protocol="p"))
ODD = st.sampled_from([None, True, 0, 1, -1.5, "", "KEEP", "x", [], [1], ["a", "b"], {}, {"name": "x"}, {"unknown": 1}])


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


def strict(plain: Any) -> Any:
    problems = Problems()
    value = decode(plain, Record, problems)
    return Invalid if problems.found else value


def quick(plain: Any) -> Any:
    try:
        return reader_of(Record)(plain)
    except Invalid:
        return Invalid


def test_sound_records_are_what_they_were() -> None:
    for record in MADE:
        assert quick(encode(record)) == record


@given(st.data(), st.sampled_from(MADE), ODD, st.booleans())
def test_spoilt_records_are_unsound_exactly_where_the_strict_reader_finds_a_problem(
    data: st.DataObject, record: Record, odd: Any, gone: bool
) -> None:
    plain = encode(record)
    document = spoilt(plain, data.draw(st.sampled_from(places(plain))), odd, gone=gone)
    assert quick(document) == strict(document)


def test_lists_that_are_left_out_are_read_as_strictly() -> None:
    record = next(each for each in MADE if each.artifacts)
    without = reader_of(Record, frozenset((Fact,)))
    plain = encode(record)
    assert without(plain).artifacts["baseline"]["here"].facts == ()
    assert without(plain).artifacts["baseline"]["here"].code == record.artifacts["baseline"]["here"].code
    plain["artifacts"]["baseline"]["here"]["facts"][0]["value"] = "1"
    with pytest.raises(Invalid):
        without(plain)


def test_a_damaged_record_is_refused_with_every_problem() -> None:
    plain = json.loads(record_bytes(MADE[-1]))
    del plain["id"]
    plain["kind"] = "none"
    with pytest.raises(Refused) as refusal:
        record_of(json.dumps(plain).encode(), where="here", left_out=frozenset((Fact,)))
    assert "id: missing" in refusal.value.found
    assert "kind: expected one of" in refusal.value.found
    for text in (b'{"id": "P1", "id": "P1"}', b"\xff", b"[" * 100_000, b'{"a": NaN}'):
        with refuses("file-damaged"):
            record_of(text, where="here")


def test_what_it_can_not_read_is_our_fault() -> None:
    with pytest.raises((KeyError, TypeError)):
        reader_of(complex)
    assert reader_of(Protocol) is reader_of(Protocol)
