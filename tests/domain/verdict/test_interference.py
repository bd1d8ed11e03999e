"""What was seen beside the launches, in words and in numbers."""

from collections.abc import Sequence

import pytest

from expctl.domain.protocol.model import Style
from expctl.domain.verdict.interference import lost_rounds, taint_notes
from expctl.domain.verdict.samples import Sample, Side, round_effects

NCU, HOT = "ncu matches ncu", "gpu is hot"
B, C = Side.BASELINE, Side.CANDIDATE


def launches(round: int, *each: tuple[Side, Sequence[str]]) -> list[Sample]:
    return [
        Sample(
            round=round, launch=launch, side=side, size=size, style=Style.LAUNCH, visit=1, ns=(1000 + 500 * len(taints),),
            order="ABBA", taints=tuple(taints),
        )
        for launch, (side, taints) in enumerate(each)
        for size in ("a", "b")
    ]  # fmt: skip


CLEAN = launches(0, (B, ()), (C, ()), (C, ()), (B, ()))
AGAIN = launches(1, (B, ()), (C, [NCU]), (C, [NCU, HOT]), (C, ()), (C, ()), (B, ()))
LOST = launches(2, (B, [NCU]), (C, [NCU]))


def test_each_taint_is_told_once_with_the_launches_it_spoiled() -> None:
    assert taint_notes([*CLEAN, *AGAIN, *LOST]) == (
        "tainted, measured again and left out: 1 launch (1 of the candidate), gpu is hot",
        "tainted, measured again and left out: 4 launches (1 of the baseline and 3 of the candidate), ncu matches ncu",
    )
    assert taint_notes(CLEAN) == ()


@pytest.mark.parametrize(("samples", "lost"), [(CLEAN, 0), (AGAIN, 0), (LOST, 1), ([*CLEAN, *AGAIN, *LOST], 1)])
def test_a_round_is_lost_when_nothing_of_it_counts(samples: list[Sample], lost: int) -> None:
    assert lost_rounds(samples) == lost


def test_a_launch_in_place_of_a_tainted_one_completes_the_round() -> None:
    """The tainted launches are 1.5 times slower and change nothing."""
    (effect,) = round_effects(AGAIN)
    assert effect.effect == {"a": 0.0, "b": 0.0}
