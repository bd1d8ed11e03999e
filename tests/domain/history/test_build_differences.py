"""What changed, in words."""

import pytest

from expctl.domain.experiment.record import Artifact, Fact
from expctl.domain.history.build_differences import build_changes, fact_changes


def fact(value: float, unit: str = "", name: str = "vgpr") -> Fact:
    return Fact(name=name, value=value, unit=unit)


PHRASES = [
    (155, 160, "", "vgpr 155 -> 160 (+3.2 %)"),
    (155, 155, "", "vgpr = 155"),
    (0, 16, "B", "vgpr 0 -> 16 B"),
    (200, 100, "B", "vgpr 200 -> 100 B (-50.0 %)"),
    (1.5, 1.5, "ms", "vgpr = 1.5 ms"),
    (12345678901, 12345678902, "", "vgpr 12345678901 -> 12345678902 (+0.0 %)"),
    (16, 0, "", "vgpr 16 -> 0 (-100.0 %)"),
]


@pytest.mark.parametrize(("before", "after", "unit", "phrase"), PHRASES)
def test_a_change_in_words(before: float, after: float, unit: str, phrase: str) -> None:
    assert fact_changes([fact(before, unit)], [fact(after, unit)]) == (phrase,)


def test_a_fact_of_one_side_only_is_not_compared() -> None:
    assert fact_changes([fact(1), fact(2, name="lds")], [fact(2, name="lds"), fact(3, name="code")]) == ("lds = 2",)


def test_builds_are_compared_where_both_sides_have_facts() -> None:
    def artifact(code: str, *facts: Fact) -> Artifact:
        return Artifact(sha256="s", code=code, facts=facts)

    artifacts = {
        "baseline": {
            "cpu": artifact("a", fact(1)),
            "gfx": artifact("b", fact(7)),
            "nvcc": artifact("c"),
            "gone": artifact("d", fact(1)),
        },
        "candidate": {"cpu": artifact("A", fact(2)), "gfx": artifact("b", fact(7)), "nvcc": artifact("C")},
    }
    assert build_changes(artifacts) == ("cpu: vgpr 1 -> 2 (+100.0 %)", "gfx: machine code unchanged")


def test_a_source_that_is_unchanged_was_not_built_but_for_the_timed_target() -> None:
    made = Artifact(sha256="1", code="c", facts=(fact(1),), source="s")
    artifacts = {side: {"cpu": made, "gfx": made} for side in ("baseline", "candidate")}
    assert build_changes(artifacts, timed="cpu") == ("cpu: machine code unchanged", "gfx: source unchanged: not built")


def test_a_run_without_builds_has_no_changes() -> None:
    assert build_changes({}) == ()
    assert build_changes({"baseline": {}}) == ()
