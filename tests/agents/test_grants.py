"""A grant holds until its end, for what may be granted; whatever else the file says grants nothing."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from expctl.agents.grants import LONGEST, Grants, not_granted, until_of
from expctl.domain.errors import Misused

NOW = datetime(2026, 2, 18, 8, tzinfo=UTC)
HOUR = timedelta(hours=1)


def test_a_grant_holds_until_its_end(tmp_path: Path) -> None:
    grants = Grants(tmp_path)
    assert grants.standing(NOW) == {}
    grants.give("run", NOW + HOUR, NOW)
    grants.give("finding_add", NOW + 3 * HOUR, NOW)
    assert set(grants.standing(NOW + HOUR / 2)) == {"run", "finding_add"}
    assert set(grants.standing(NOW + HOUR)) == {"finding_add"}
    grants.give("finding_add", NOW + 2 * HOUR, NOW)
    assert grants.standing(NOW)["finding_add"].until == NOW + 2 * HOUR
    assert grants.take("finding_add", NOW)
    assert not grants.take("finding_add", NOW)
    assert set(grants.standing(NOW)) == {"run"}


@pytest.mark.parametrize("until", [NOW, NOW - HOUR, NOW + LONGEST + HOUR])
def test_a_grant_ends_within_a_week(tmp_path: Path, until: datetime) -> None:
    with pytest.raises(Misused, match="within a week"):
        Grants(tmp_path).give("run", until, NOW)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("tool", ["propose", "", "../run", "verdict"])
def test_nothing_else_can_be_granted(tmp_path: Path, tool: str) -> None:
    for change in (lambda: Grants(tmp_path).give(tool, NOW + HOUR, NOW), lambda: Grants(tmp_path).take(tool, NOW)):
        with pytest.raises(Misused, match="no such grant"):
            change()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[1]",
        "null",
        '"run"',
        '{"run": 1}',
        '{"run": "later"}',
        '{"run": "2026-02-28T08:00+00:00"}',
        '{"try": "2026-02-18T09:00"}',
    ],
)
def test_a_damaged_file_grants_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "grants.json").write_text(text)
    assert Grants(tmp_path).standing(NOW) == {}


def test_the_end_is_a_time_or_some_hours(tmp_path: Path) -> None:
    assert until_of("", 8.0, NOW) == NOW + 8 * HOUR
    assert until_of("2026-02-18T10:00+01:00", 8.0, NOW) == NOW + HOUR
    assert until_of("2026-02-18T09:00", 8.0, NOW).tzinfo is UTC
    with pytest.raises(Misused, match="not a time"):
        until_of("tomorrow\x1b", 8.0, NOW)
    for hours in (float("inf"), float("nan"), 1e300, -1.0):
        with pytest.raises(Misused, match="within a week"):
            Grants(tmp_path).give("run", until_of("", hours, NOW), NOW)


def test_the_refusal_names_what_a_person_types() -> None:
    assert "expctl agents grant run" in not_granted("run").hint
