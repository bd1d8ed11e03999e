"""Conditions of rules: each opens the rules that depend on it, and no other."""

import dataclasses

import pytest
from msgspec.structs import replace

from expctl.domain.experiment.proposal import Kind, Probe, Until, Verdict
from expctl.domain.experiment.record import Artifact, ChangedCondition, Origin, Record, Rule
from expctl.domain.rules.conditions import changed_conditions, verified
from expctl.domain.rules.matching import Level
from expctl.domain.rules.states import State, rule_states
from tests.fakes import FakeCircumstances

PROBE = Probe(source="snippet", arch="gfx1151")
MADE = {"candidate": {name: Artifact(sha256="", code="1") for name in ("cpu", "sm_90")}}


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


CPU = rejected("P1", "cpu", patch_id="1", conditions={"architecture": "cpu", "ziglang": "0.16.0", "epoch": "e" * 12})
CARD = rejected("P2", "sm_90", patch_id="2", conditions={"architecture": "sm_90", "nvcc": "13.0"})
HELD = rejected("P3", "gfx1151", conditions={"architecture": "gfx1151", "ziglang": "0.16.0"}, probe=PROBE)
WORDS = rejected("P4", "gfx1151", conditions={"architecture": "gfx1151", "compiler": "ziglang 0.16.0, as told"})
REGION = rejected("P5", "cpu", conditions={"target": "cpu"}, patch_id="5", region={"a.h": ("1", "2")})
CONFIG = rejected("P6", "cpu", conditions={"target": "cpu"}, settings={"k": "8"}, region={"a.h": ("1",)}, shapes={"a.h": "s"})
ALL = (CPU, CARD, HELD, WORDS, REGION, CONFIG)
NOW = FakeCircumstances(
    versions={"ziglang": "0.16.0", "nvcc": "13.0"},
    judges=frozenset({"cpu", "sm_90", "gfx1151"}),
    now_epoch="e" * 64,
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
        (dataclasses.replace(NOW, now_epoch="f" * 64), {"P1": ["epoch"], "P2": ["epoch"], "P5": ["epoch"], "P6": ["epoch"]}),
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


def test_a_build_that_failed_would_fail_in_any_epoch() -> None:
    unbuilt = replace(CPU, artifacts={}, rule=Rule(text="t", conditions={"target": "cpu"}))
    assert changed_conditions(unbuilt, dataclasses.replace(NOW, now_epoch="f" * 64)) == ()


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
    assert verified(CPU) == (("architecture", "cpu"), ("epoch", "e" * 12), ("ziglang", "0.16.0"))
    interpreted = replace(HELD, rule=replace(HELD.rule, probe=replace(PROBE, until=Until.INTERPRETS)))  # type: ignore[type-var]
    assert verified(interpreted) == (("architecture", "gfx1151"), ("probe", "fails until it interprets for gfx1151"))
    assert verified(WORDS) == (("architecture", "gfx1151"),)
