"""Every item of the audit fires in an environment that has its fault, with reason and fix, and is silent in one that hasn't."""

import pytest
from msgspec.structs import replace

from expctl.domain.checkup import Finding, Health
from expctl.domain.environment.audit import ITEMS, advice, audit
from expctl.domain.environment.gpu_variables import units_of
from expctl.domain.environment.product_shapes import xcds
from expctl.domain.environment.snapshot import Linux, Snapshot
from tests.domain.environment.cases import AMD, CASES, CPU, MI300, NVIDIA, STRIX, having, without

FIRED = [(name, words) for name, case in CASES.items() for words in case.fires]


def of(name: str, snapshot: Snapshot) -> list[Finding]:
    (item,) = [each for each in ITEMS if each.name == name]
    return list(item.findings(snapshot))


def test_every_item_has_its_cases() -> None:
    assert [each.name for each in ITEMS] == list(CASES)


@pytest.mark.parametrize(("name", "words"), FIRED)
def test_it_fires(name: str, words: str) -> None:
    found = [each for each in of(name, CASES[name].fires[words]) if each.health is not Health.OK]
    said = [each for each in found if words in each.what]
    assert said, found
    assert {each.part for each in found} == {"environment"}
    assert all(each.why and each.mend and "\n" not in each.mend for each in found)


@pytest.mark.parametrize("name", CASES)
def test_it_is_silent(name: str) -> None:
    found = of(name, CASES[name].silent)
    assert {each.health for each in found} == ({Health.OK} if CASES[name].looks else set())


@pytest.mark.parametrize("snapshot", [AMD, NVIDIA, CPU, Snapshot()])
def test_a_sound_machine_gets_one_line(snapshot: Snapshot) -> None:
    (only,) = advice(snapshot)
    assert only.health is Health.OK


def test_a_machine_without_a_gpu_is_asked_for_no_setting_of_one() -> None:
    bare = replace(AMD, vendors=frozenset(), variables={}, packages={}, aiter=(), compiled=())
    assert [each.health for each in advice(replace(bare, torch=Snapshot().torch))] == [Health.OK]
    told = audit(Snapshot(linux=Linux()))
    assert [each.health for each in told] == [Health.NOTE]
    assert f"{len(ITEMS)} of {len(ITEMS)} items don't apply here" in told[0].what


def test_advice_leaves_out_what_is_right_and_the_audit_does_not() -> None:
    lacking = without("GPU_MAX_HW_QUEUES")
    assert [each.what for each in advice(lacking)] == ["GPU_MAX_HW_QUEUES: not set"]
    assert any(each.what == "AMD_LOG_LEVEL: 0" for each in audit(lacking))


def test_what_makes_figures_wrong_is_wrong_and_the_rest_is_advice() -> None:
    wrong = {
        name
        for name, case in CASES.items()
        for snapshot in case.fires.values()
        if any(each.health is Health.WRONG for each in of(name, snapshot))
    }
    assert wrong == {"ECC", "torch's own answers", "results of TunableOp", "tables that AITER_CONFIG_* names"}


def test_cards_of_a_maker_that_is_not_measured_are_left_alone() -> None:
    both = replace(NVIDIA, cards=(*NVIDIA.cards, replace(STRIX, display=True, level="low")))
    assert [each.health for each in advice(both)] == [Health.OK]


def test_the_fix_of_a_variable_is_what_is_typed() -> None:
    (found,) = of("CU masks", having(HSA_CU_MASK="0:0-19"))
    assert found.mend.startswith("drop HSA_CU_MASK from environment.set")


@pytest.mark.parametrize(
    ("mask", "units"),
    [
        ("0:0-19", 20),
        ("0:0-15,32-47", 32),
        ("0-3,2-5", 6),
        ("7", 1),
        ("0x3f", 6),
        ("0:0xff00", 8),
        ("1:0-19", 0),
        ("0:0-19;1:20-39", 0),
        ("", 0),
        ("all", 0),
        ("0:", 0),
        ("5-2", 0),
    ],
)
def test_compute_units_of_a_mask(mask: str, units: int) -> None:
    assert units_of(mask) == units


@pytest.mark.parametrize(
    ("arch", "units", "count"),
    [("gfx942", 304, 8), ("gfx942", 228, 6), ("gfx942", 38, 1), ("gfx942", 80, 0), ("gfx950", 256, 8), ("gfx1151", 38, 0)],
)
def test_xcds_of_a_card(arch: str, units: int, count: int) -> None:
    assert xcds(replace(STRIX, arch=arch, compute_units=units)) == count


def test_advice_of_mi300_is_not_given_on_another_card() -> None:
    for name in ("strides of products", "workgroups of products", "mapping of workgroups to XCDs"):
        for snapshot in CASES[name].fires.values():
            assert of(name, replace(snapshot, cards=(STRIX,))) == []


def test_rows_that_were_tuned_on_another_machine_say_nothing_of_this_one() -> None:
    for name in ("workgroups of products", "mapping of workgroups to XCDs", "thresholds of M"):
        for snapshot in CASES[name].fires.values():
            assert of(name, replace(snapshot, cards=(replace(MI300, compute_units=228),))) == []
