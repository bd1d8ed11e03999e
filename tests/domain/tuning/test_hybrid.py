"""Tables are assembled bucket by bucket; which shapes they change; how a side is asked for a config."""

import json

import pytest

from expctl.domain.protocol.model import Benchmark, Size
from expctl.domain.protocol.tune import Tune
from expctl.domain.tuning.benchmark import config_of, now, screening, sided, with_shapes
from expctl.domain.tuning.hybrid import assembled, buckets_by_family, buckets_of_default, changed, extents, files_of, started
from expctl.tables.folder import DEFAULT, Folder, read_files
from expctl.tables.operations import settings_of
from tests.tables.malformed import GOOD, OP, SPECIAL

HERE = {"compiler": "a", "driver": "b", "device": "c"}
SHAPES = ["16x512x128", "64x512x128", "16x128x512", "64x128x512"]
WIDE = settings_of("2,2,2,2,4,4")
BENCHMARK = Benchmark(argv=("x",), timeout_s=1, sizes=(Size(name="n=8", weight=1.0),), respawn=3)
RULE = Tune(tables="t", configs=("1,8,2,2,8,2",), shapes=tuple(SHAPES), quads=7, iterations=5)


def test_without_a_table_the_default_leaves_each_m_of_the_list_to_the_build() -> None:
    folder = started(Folder(OP, {}), SHAPES, HERE)
    assert dict(folder.tables[DEFAULT].buckets) == {"M_LEQ_16": None, "M_LEQ_64": None, "any": None}
    assert started(folder, ["7x7x7"], {}) is folder


def test_a_special_file_starts_as_a_copy_and_only_won_buckets_differ() -> None:
    before = read_files(OP, {DEFAULT: GOOD.encode()})
    after = assembled(before, {(SPECIAL, "M_LEQ_128"): WIDE})
    assert after.tables[DEFAULT] is before.tables[DEFAULT]
    old, new = before.tables[DEFAULT].text().splitlines(), after.tables[SPECIAL].text().splitlines()
    assert [one for one, other in zip(old, new, strict=True) if one != other] == [line for line in old if "M_LEQ_128" in line]
    assert set(files_of(before, after)) == {SPECIAL}
    assert changed(before, after, SHAPES) == {"64x512x128": "2,2,2,2,4,4"}
    assert json.loads(files_of(before, after)[SPECIAL])["M_LEQ_128"] == WIDE
    assert files_of(before, assembled(before, {})) == {}


def test_an_edit_of_the_default_changes_every_family_that_reads_it() -> None:
    before = assembled(read_files(OP, {DEFAULT: GOOD.encode()}), {(SPECIAL, "M_LEQ_128"): WIDE})
    after = assembled(before, {(DEFAULT, "M_LEQ_16"): WIDE})
    assert set(changed(before, after, SHAPES)) == {"16x128x512"}


def test_buckets_hold_the_shapes_that_are_looked_up_there() -> None:
    before = started(Folder(OP, {}), SHAPES, HERE)
    assert [(each.name, each.shapes) for each in buckets_of_default(before, SHAPES)] == [
        ("M_LEQ_16", ("16x512x128", "16x128x512")),
        ("M_LEQ_64", ("64x512x128", "64x128x512")),
    ]
    by_family = buckets_by_family(before, ["8x512x128", *SHAPES])
    assert [(each.file, each.name, each.shapes) for each in by_family][:2] == [
        (SPECIAL, "M_LEQ_16", ("8x512x128", "16x512x128")),
        (SPECIAL, "M_LEQ_64", ("64x512x128",)),
    ]
    tuned = assembled(before, {(SPECIAL, "M_LEQ_64"): WIDE})
    assert [each.name for each in buckets_of_default(tuned, ["64x512x128"])] == []


@pytest.mark.parametrize("shape", ["64x512", "64x512x0", "64x512xk", "", "1x2x3x4"])
def test_what_is_no_shape(shape: str) -> None:
    with pytest.raises(ValueError, match="the shape"):
        extents(shape)


def test_each_side_is_asked_for_its_own_config() -> None:
    rounds = sided(BENCHMARK, RULE, {"64x512x128": now("64x512x128")}, {"64x512x128": "64x512x128@1,8,2,2,8,2"})
    assert rounds.asked("baseline", "64x512x128") == "64x512x128@auto"
    assert rounds.asked("candidate", "64x512x128") == "64x512x128@1,8,2,2,8,2"
    assert (rounds.quads, rounds.respawn, rounds.sizes[0].flop) == (7, 1, 2 * 64 * 512 * 128)
    assert BENCHMARK.asked("baseline", "n=8") == "n=8"
    screen = screening(BENCHMARK, RULE, ["64x512x128@auto", "64x512x128@1,8,2,2,8,2"])
    assert (screen.style.value, screen.iterations, len(screen.sizes)) == ("launch", 5, 2)
    assert [each.weight for each in with_shapes(BENCHMARK, SHAPES).sizes] == [0.25] * 4


def test_the_config_of_a_size_is_read_from_the_fact_of_a_benchmark() -> None:
    fact = "64x8x8@auto: 1,8,2,2,8,2 (DEFAULT.json, any, not tuned); 16x8x8@auto: 1,2,4,2,2,2"
    assert config_of(fact, "64x8x8@auto") == "1,8,2,2,8,2"
    assert config_of(fact, "16x8x8@auto") == "1,2,4,2,2,2"
    assert config_of(fact, "4x8x8@auto") == config_of("1,8,2,2,8,2", "64x8x8@auto") == ""
