"""The account of a campaign: when a proposer circles, what it cost, what a kill leaves."""

import pytest
from msgspec.structs import replace

from expctl.domain.queue.night import NightEvent, Usage, What, present_night

BEGAN = NightEvent(at="2026-03-01T22:00:00Z", what=What.BEGAN)
REFUSED = NightEvent(at="2026-03-01T22:10:00Z", what=What.REFUSED, title="wider tiles for B", code="a", usage=Usage(tokens=10))


def circles(*events: NightEvent) -> str:
    night = present_night((BEGAN, *events))
    assert night is not None
    return night.circles()


@pytest.mark.parametrize(
    ("changes", "is_circle"),
    [
        ({"title": "wider tiles for A", "code": "b"}, True),
        ({"title": "other words entirely"}, False),
        ({"title": "other words entirely", "patch": "1"}, False),
        ({"what": What.PROPOSED}, False),
        ({"what": What.FAILED}, False),
    ],
    ids=["like title", "another", "another patch", "queued", "failed"],
)
def test_three_refusals_of_one_idea_are_a_circle(changes: dict[str, object], is_circle: bool) -> None:
    assert circles(REFUSED, REFUSED) == ""
    assert bool(circles(REFUSED, REFUSED, replace(REFUSED, **changes))) is is_circle


def test_one_rule_and_one_change_are_one_idea_whatever_its_title() -> None:
    by_rule = [replace(REFUSED, title=f"name{n}", where="experiments/P4") for n in range(3)]
    by_patch = [replace(REFUSED, title=f"name{n}", patch="abc", code=str(n)) for n in range(3)]
    assert circles(*by_rule)
    assert circles(*by_patch)


def test_untitled_ones_are_one_idea_where_the_same_was_found() -> None:
    silent = replace(REFUSED, title="", found="nothing")
    assert circles(silent, silent, silent)
    assert not circles(silent, silent, replace(silent, found="a link"))


def test_a_kill_ends_a_stretch_and_no_campaign() -> None:
    resumed = NightEvent(at="2026-03-02T01:00:00Z", what=What.RESUMED)
    last = replace(REFUSED, at="2026-03-02T01:05:00Z", what=What.FAILED)
    night = present_night((BEGAN, REFUSED, resumed, last))
    assert night is not None
    assert night.stretches() == ((BEGAN.at, REFUSED.at), (resumed.at, last.at))
    assert (night.calls, night.faults, night.usage.tokens) == (2, 1, 20)
    assert present_night((BEGAN, NightEvent(at="", what=What.ENDED))) is None
