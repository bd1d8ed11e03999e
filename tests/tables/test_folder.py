"""Which file and bucket a shape is looked up in, when a table is stale, and that a table is written as it was read."""

import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expctl.tables.folder import DEFAULT, Family, family_of, read_files, special_name
from expctl.tables.operations import TILE, config_text, settings_of
from expctl.tables.table import ANY, BadTable, StaleTable, Table, bucket_of, in_order, parse
from tests.tables.malformed import GOOD, MADE_WITH, OP, SMALL, SPECIAL, WINNER, table

HERE = {"compiler": "clang 21.1.0", "driver": "", "device": "EPYC"}
SPECIAL_TEXT = table(f'"M_LEQ_64": {WINNER}', '"any": "build"')


@pytest.mark.parametrize(
    ("m", "bucket", "config"),
    [
        (1, "M_LEQ_16", "1,2,4,2,2,2"),
        (16, "M_LEQ_16", "1,2,4,2,2,2"),
        (17, "M_LEQ_128", "1,2,4,2,2,2"),
        (129, "any", "1,8,2,2,8,2"),
        (1023, "any", "1,8,2,2,8,2"),
        (1024, "M_GEQ_1024", ""),
    ],
)
def test_buckets_are_looked_up_from_below_then_from_above_then_any(m: int, bucket: str, config: str) -> None:
    choice = read_files(OP, {DEFAULT: GOOD.encode()}).look_up(m, 7, 7)
    assert (choice.file, choice.bucket, choice.config, choice.tuned) == (DEFAULT, bucket, config, False)


def test_a_special_file_replaces_the_default_whole_and_counts_as_tuned_but_for_any() -> None:
    folder = read_files(OP, {DEFAULT: GOOD.encode(), SPECIAL: SPECIAL_TEXT.encode()})
    inside, beyond, other = folder.look_up(16, 512, 128), folder.look_up(65, 512, 128), folder.look_up(16, 128, 512)
    assert (inside.file, inside.bucket, inside.tuned) == (SPECIAL, "M_LEQ_64", True)
    assert (beyond.file, beyond.bucket, beyond.settings, beyond.tuned) == (SPECIAL, ANY, None, False)
    assert (other.file, other.tuned) == (DEFAULT, False)
    assert inside.place == f"{SPECIAL}, M_LEQ_64, tuned"


def test_a_batch_has_files_of_its_own() -> None:
    name = special_name(OP, Family(512, 128, 4))
    assert name == "SCALED_MM-A16W8-E5M2-B=4-N=512-K=128.json"
    folder = read_files(OP, {DEFAULT: GOOD.encode(), name: SPECIAL_TEXT.encode()})
    assert folder.look_up(1, 512, 128, 4).file == name
    assert folder.look_up(1, 512, 128).file == DEFAULT


def test_a_stale_table_says_all_that_differs() -> None:
    folder = read_files(OP, {DEFAULT: GOOD.encode()})
    folder.check_fresh(HERE)
    folder.check_fresh({"device": "EPYC"})  # what isn't known here is not compared
    with pytest.raises(StaleTable) as error:
        folder.check_fresh({**HERE, "compiler": "clang 22", "device": "Xeon"})
    assert str(error.value) == (
        "DEFAULT.json, compiler: made with clang 21.1.0, here clang 22; DEFAULT.json, device: made with EPYC, here Xeon"
    )


def test_a_table_is_written_with_one_bucket_a_line_and_read_as_it_was() -> None:
    found = parse(GOOD.encode(), DEFAULT, TILE)
    text = found.text()
    assert parse(text.encode(), DEFAULT, TILE) == found
    assert text.count("\n") == 3 + len(found.buckets)
    assert json.loads(text)["any"] == json.loads(WINNER)


BOUNDS = st.dictionaries(
    st.tuples(st.sampled_from(["LEQ", "GEQ"]), st.integers(1, 40)).map(lambda each: f"M_{each[0]}_{each[1]}"), st.just(None)
)


@given(BOUNDS, st.integers(1, 60))
def test_the_bucket_is_the_first_that_holds_m_in_the_order_of_looking_up(found: Mapping[str, None], m: int) -> None:
    names = in_order([*found, ANY])

    def holds(name: str) -> bool:
        if name == ANY:
            return True
        bound = int(name.rpartition("_")[2])
        return m <= bound if "LEQ" in name else m >= bound

    assert bucket_of([*found, ANY], m) == next(name for name in names if holds(name))


@given(BOUNDS)
def test_a_table_is_refused_only_if_no_m_reaches_a_bucket(found: Mapping[str, None]) -> None:
    names = [*found, ANY]
    reached = {bucket_of(names, m) for m in range(1, 100)} | {ANY}
    text = Table(dict.fromkeys(names), HERE).text().encode()
    if reached == set(names):
        parse(text, "x", TILE)
        return
    with pytest.raises(BadTable, match="no M reaches"):
        parse(text, "x", TILE)


def test_a_config_is_named_by_its_values() -> None:
    assert config_text(settings_of("1,8,2,2,8,2")) == "1,8,2,2,8,2"
    assert settings_of("1,2,4,2,2,2") == json.loads(SMALL)
    with pytest.raises(ValueError, match="argument"):
        settings_of("1,2,3")


def test_names_of_special_files() -> None:
    assert family_of(SPECIAL) == Family(512, 128)
    assert family_of(DEFAULT) is None
    assert "made_with" in MADE_WITH
