"""Which configs a screen sends to a full verdict."""

import pytest

from expctl.domain.tuning.screen import CONTROL, finalists, scores

STEADY = [{CONTROL: 1.0, "same": 1.0, "best": 0.9, "next": 0.903, "slow": 1.4}] * 4


def test_the_control_of_each_launch_cancels_what_happened_to_it() -> None:
    drifting = [{name: value + drift for name, value in STEADY[0].items()} for drift in (0.0, 0.3, -0.2, 0.1)]
    assert [(each.config, round(each.gain, 9)) for each in scores(drifting)] == [
        ("best", 0.1),
        ("next", 0.097),
        ("same", 0.0),
        ("slow", -0.4),
    ]


def test_finalists_are_near_the_best_and_may_be_faster_by_what_is_worthwhile() -> None:
    assert finalists(STEADY) == ["best", "next"]
    assert finalists(STEADY, most=1) == ["best"]
    assert finalists([{CONTROL: 1.0, "same": 1.0, "little": 0.997}] * 4) == []


def test_a_noisy_screen_lets_more_pass_and_an_odd_launch_widens_nothing() -> None:
    def launch(shift: float) -> dict[str, float]:
        return {CONTROL: 1.0, "best": 0.9 + shift, "next": 0.92 - shift, "third": 0.95 + shift}

    assert finalists([launch(shift) for shift in (0.03, -0.03, 0.02, -0.02)], most=3) == ["best", "next"]
    odd = [dict(each) for each in STEADY]
    odd[0]["slow"] = 3.0
    assert finalists(odd) == ["best", "next"]


def test_a_config_that_a_launch_lacks_has_no_score() -> None:
    assert [each.config for each in scores([{CONTROL: 1.0, "a": 1.0, "b": 1.0}, {CONTROL: 1.0, "a": 1.0}])] == ["a"]
    assert scores([{CONTROL: 1.0}]) == []
    with pytest.raises(IndexError):
        scores([])
