"""What ncu and rocprofv3 left in a profile step: facts, damage, and the sentence."""

import gzip
from pathlib import Path

import pytest

from expctl.domain.protocol.model import NumberKind
from expctl.domain.verdict.samples import Side
from expctl.profiles.step_profiles import StepProfiles

CAPTURES = Path(__file__).parents[2] / "benchmarks/profiles/captures"
SM_90 = "sm_90"


@pytest.fixture
def profiles(tmp_path: Path) -> StepProfiles:
    return StepProfiles(tmp_path / "profiles")


def write(profiles: StepProfiles, side: Side, capture: str, number: int = 0) -> Path:
    folder = profiles.fresh("sm_90", side) / str(number)
    folder.mkdir()
    (folder / "ncu.csv").write_bytes(gzip.decompress((CAPTURES / f"{capture}.raw.csv.gz").read_bytes()))
    return folder


def test_ncu_becomes_facts_of_their_kinds(profiles: StepProfiles) -> None:
    write(profiles, Side.CANDIDATE, "spill")
    found = profiles.facts("sm_90", Side.CANDIDATE, SM_90)
    facts: dict[str, tuple[object, NumberKind]] = {fact.name: (fact.value, fact.kind) for fact in found}
    assert facts["tiled_product vgpr"] == (32, NumberKind.STATIC)
    assert facts["tiled_product time"] == (pytest.approx(739.3, abs=0.1), NumberKind.DEVICE_TIME)
    assert facts["tiled_product spill instructions"] == (25427968, NumberKind.EXACT_COUNT)
    assert profiles.unreadable("sm_90", Side.CANDIDATE, 0) == ""


def test_both_sides_give_the_sentence_and_one_none(profiles: StepProfiles) -> None:
    write(profiles, Side.BASELINE, "own_nopad")
    assert profiles.why("sm_90", SM_90) == ""
    write(profiles, Side.CANDIDATE, "own")
    assert profiles.why("sm_90", SM_90).startswith("scaled_mm_e5m2_1_8_2_2_8_2 takes 0.8 % less time: bank conflicts")
    profiles.drop("sm_90", Side.BASELINE, 0)
    assert profiles.why("sm_90", SM_90) == ""


def test_times_come_from_the_first_pass_and_counters_from_all(profiles: StepProfiles) -> None:
    out = write(profiles, Side.CANDIDATE, "cool").parent
    (out / "1").mkdir()
    (out / "1" / "ncu.csv").write_bytes(gzip.decompress((CAPTURES / "spill.raw.csv.gz").read_bytes()))
    facts = {fact.name: fact.value for fact in profiles.facts("sm_90", Side.CANDIDATE, SM_90)}
    assert facts["tiled_product time"] == pytest.approx(590.3, abs=0.1)
    assert facts["tiled_product spill instructions"] == 25427968


def test_nothing_written_is_no_fact_and_garbage_is_named(profiles: StepProfiles) -> None:
    out = profiles.fresh("sm_90", Side.BASELINE)
    assert profiles.facts("sm_90", Side.BASELINE, SM_90) == ()
    (out / "0").mkdir()
    (out / "0" / "x_results.db").write_bytes(b"SQLite format 3\0" + bytes(range(256)) * 16)
    assert "damaged" in profiles.unreadable("sm_90", Side.BASELINE, 0)
    profiles.drop("sm_90", Side.BASELINE, 0)
    assert profiles.unreadable("sm_90", Side.BASELINE, 0) == ""


def test_the_next_profile_starts_empty(profiles: StepProfiles) -> None:
    folder = write(profiles, Side.BASELINE, "base")
    assert list(profiles.fresh("sm_90", Side.BASELINE).iterdir()) == []
    assert not folder.exists()
    profiles.forget("sm_90")
    assert not folder.parent.exists()
