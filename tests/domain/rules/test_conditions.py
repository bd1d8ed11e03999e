"""Conditions of rules: each opens the rules that depend on it, and no other."""

import dataclasses

import pytest
from msgspec.structs import replace

from expctl.domain.experiment.proposal import Kind, Probe, Until, Verdict
from expctl.domain.experiment.record import Artifact, ChangedCondition, Estimate, Origin, Record, Rule
from expctl.domain.rules.conditions import changed_conditions, conditions_of, small_effect, verified
from expctl.domain.rules.matching import Level
from expctl.domain.rules.states import State, rule_states
from tests.fakes.rules import FakeCircumstances

PROBE = Probe(source="snippet", arch="gfx1151")
MADE = {"candidate": {name: Artifact(sha256="", code="1") for name in ("cpu", "sm_90")}}
OTHER = ChangedCondition(condition="epoch", was="KPI n=512", now="n=768")


def rejected(name: str, target: str, **rule: object) -> Record:
    plain = Record(
        id=name,
        title=name,
        kind=Kind.PERF,
        origin=Origin.MEASURED,
        target=target,
        verdict=Verdict.REJECT,
        reasons=("slower",),
        protocol="e" * 64,
        artifacts=MADE,
        rule=Rule(text=name, **rule),  # type: ignore[arg-type]
    )
    return plain if target in MADE["candidate"] else replace(plain, origin=Origin.IMPORTED, protocol="", artifacts={})


def measured(record: Record, **highs: float) -> Record:
    """`record` with the upper ends of the intervals of the sizes."""
    found = [
        Estimate(size=size, effect_percent=high - 1, low_percent=high - 2, high_percent=high, sd_percent=1, rounds=5)
        for size, high in highs.items()
    ]
    return replace(record, estimates=tuple(found))


CPU = measured(
    rejected("P1", "cpu", patch_id="1", conditions={"architecture": "cpu", "ziglang": "0.16.0", "epoch": "e" * 12}),
    objective=0.2,
)
CARD = rejected("P2", "sm_90", patch_id="2", conditions={"architecture": "sm_90", "nvcc": "13.0"})
HELD = rejected("P3", "gfx1151", conditions={"architecture": "gfx1151", "ziglang": "0.16.0"}, probe=PROBE)
WORDS = rejected("P4", "gfx1151", conditions={"architecture": "gfx1151", "compiler": "ziglang 0.16.0, as told"})
REGION = rejected("P5", "cpu", conditions={"target": "cpu"}, patch_id="5", region={"a.h": ("1", "2")})
CONFIG = rejected("P6", "cpu", conditions={"target": "cpu"}, settings={"k": "8"}, region={"a.h": ("1",)}, shapes={"a.h": "s"})
ALL = (CPU, CARD, HELD, WORDS, REGION, CONFIG)
NOW = FakeCircumstances(
    versions={"ziglang": "0.16.0", "nvcc": "13.0"},
    judges=frozenset({"cpu", "sm_90", "gfx1151"}),
    keys={"a.h": frozenset({"1", "2", "3"})},
    shapes={"a.h": "s"},
)


def reopened(now: FakeCircumstances) -> dict[str, list[str]]:
    return {
        each.id: [lapse.condition for lapse in each.lapses] for each in rule_states(ALL, now) if each.state is State.REOPENED
    }


def test_nothing_is_open_while_nothing_changed() -> None:
    assert reopened(NOW) == {}


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (dataclasses.replace(NOW, versions={"ziglang": "0.17.0", "nvcc": "13.0"}), {"P1": ["ziglang"]}),
        (dataclasses.replace(NOW, versions={"ziglang": "0.16.0", "nvcc": "13.1"}), {"P2": ["nvcc"]}),
        (dataclasses.replace(NOW, versions={}), {}),
        (dataclasses.replace(NOW, passing={PROBE: "clang 22"}), {"P3": ["probe"]}),
        (dataclasses.replace(NOW, keys={"a.h": frozenset({"1"})}), {"P5": ["baseline code in the touched region"]}),
        (dataclasses.replace(NOW, shapes={"a.h": "t"}), {"P6": ["config schema"]}),
        (dataclasses.replace(NOW, judges=frozenset({"cpu", "gfx1151"})), {"P2": ["architecture"]}),
        (dataclasses.replace(NOW, other_epochs=dict.fromkeys(("P1", "P2", "P5", "P6"), (OTHER,))), {"P1": ["epoch"]}),
    ],
    ids=["compiler", "another compiler", "no compiler here", "probe", "region", "schema", "architecture", "epoch"],
)
def test_a_change_opens_exactly_the_rules_that_depend_on_it(now: FakeCircumstances, expected: dict[str, list[str]]) -> None:
    assert reopened(now) == expected


def test_a_lapse_says_what_it_was_and_what_it_is() -> None:
    assert changed_conditions(CPU, dataclasses.replace(NOW, versions={"ziglang": "0.17.0"})) == (
        ChangedCondition(condition="ziglang", was="0.16.0", now="0.17.0"),
    )
    (lapse,) = changed_conditions(HELD, dataclasses.replace(NOW, passing={PROBE: "clang 22"}))
    assert (lapse.was, lapse.now, lapse.evidence) == ("failed for gfx1151", "it compiles", "clang 22")


@pytest.mark.parametrize(
    ("highs", "small"),
    [
        ({}, False),
        ({"objective": -22.4, "n=768": -22.2}, False),
        ({"objective": 0.3}, True),
        ({"objective": -0.4}, True),
        ({"objective": -0.5}, True),
        ({"objective": -0.51}, False),
        ({"objective": 0.3, "n=768": -0.4, "n=384": 4.0}, True),
        ({"objective": 0.3, "n=768": -0.6, "n=384": 4.0}, False),
    ],
    ids=["not timed", "-23 %", "no gain", "little loss", "at the border", "beyond it", "sizes differ", "one clear loss"],
)
def test_an_effect_is_small_unless_something_is_a_loss_by_more_than_is_worthwhile(highs: dict[str, float], small: bool) -> None:
    record = measured(CPU, **highs)
    assert small_effect(record) is small
    assert conditions_of(record).epoch == ("P1" if small else "")


def test_what_is_worthwhile_is_what_the_protocol_said_when_the_rule_was_made() -> None:
    wide = rejected("P1", "cpu", patch_id="1", worthwhile_percent=2.0)
    assert small_effect(measured(wide, objective=-1.9))
    assert not small_effect(measured(wide, objective=-2.1))
    assert not small_effect(replace(measured(wide, objective=0.0), rule=None, estimates=()))


def test_a_build_or_test_that_failed_would_fail_in_any_epoch() -> None:
    unbuilt = replace(CPU, artifacts={}, estimates=(), rule=Rule(text="t", conditions={"target": "cpu", "epoch": "e" * 12}))
    untimed = replace(CPU, estimates=())
    now = dataclasses.replace(NOW, other_epochs={"P1": (OTHER,)})
    assert changed_conditions(unbuilt, now) == changed_conditions(untimed, now) == ()
    assert changed_conditions(CPU, now) == (OTHER,)


def test_what_matters_depends_on_the_level() -> None:
    moved = dataclasses.replace(NOW, keys={}, shapes={})
    assert [each.condition for each in changed_conditions(CONFIG, moved, Level.PATCH)] == [
        "baseline code in the touched region"
    ]
    assert [each.condition for each in changed_conditions(CONFIG, moved, Level.SETTINGS)] == ["config schema"]
    assert changed_conditions(CONFIG, moved, Level.CODE) == ()


def test_a_recorded_lapse_holds_for_ever() -> None:
    raced = rejected("P11", "gfx1151", lapsed=(ChangedCondition(condition="races", was="unknown", now="none"),))
    assert [each.condition for each in changed_conditions(raced, NOW)] == ["races"]


def test_a_probe_is_tried_only_for_a_rule_that_has_one() -> None:
    now = dataclasses.replace(NOW, probed=[])
    for record in (CPU, CARD, WORDS, REGION):
        changed_conditions(record, now)
    assert now.probed == []
    changed_conditions(HELD, now)
    assert now.probed == [PROBE]


def test_conditions_are_listed_as_they_are_looked_up() -> None:
    assert verified(CPU) == (("architecture", "cpu"), ("epoch", "of P1 on cpu"), ("ziglang", "0.16.0"))
    interpreted = replace(HELD, rule=replace(HELD.rule, probe=replace(PROBE, until=Until.INTERPRETS)))  # type: ignore[type-var]
    assert verified(interpreted) == (("architecture", "gfx1151"), ("probe", "fails until it interprets for gfx1151"))
    assert verified(WORDS) == (("architecture", "gfx1151"),)
