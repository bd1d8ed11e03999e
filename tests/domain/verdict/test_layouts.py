"""Which layout a round was measured with, from its samples to its effect."""

import pytest
from msgspec.structs import replace

from expctl.adapters.codec.decode import Problems, decode, encode
from expctl.domain.experiment.record import Artifact
from expctl.domain.protocol.model import Style
from expctl.domain.verdict.paired_rounds import by_pairs
from expctl.domain.verdict.samples import MalformedRound, Sample, Side, round_effects


def samples(round: int, layout: int, pair: int | None = None) -> list[Sample]:
    one = Sample(
        round=round, launch=0, side=Side.BASELINE, size="n", style=Style.FINE, visit=1, ns=(5, 5), order="A", pair=pair
    )
    return [replace(one, launch=launch, side=side, layout=layout) for launch, side in enumerate(Side)]


def test_a_round_has_the_layout_of_its_samples() -> None:
    found = round_effects([*samples(0, 3), *samples(1, 1)])
    assert [each.layout for each in found] == [3, 1]


def test_a_round_with_two_layouts_is_malformed() -> None:
    one, other = samples(0, 0)
    with pytest.raises(MalformedRound, match="round 0 has two layouts"):
        round_effects([one, replace(other, layout=1)])


def test_the_rounds_of_a_pair_share_a_layout() -> None:
    rounds = round_effects([each for n in range(4) for each in samples(n, layout=n // 2, pair=n - n % 2)])
    assert [each.layout for each in by_pairs(rounds, 2).effects] == [0, 1]


def test_a_sample_of_layout_0_is_written_as_it_always_was() -> None:
    one, _ = samples(0, 0)
    assert "layout" not in encode(one)
    other = replace(one, layout=2)
    assert encode(other)["layout"] == 2
    assert decode(encode(other), Sample, Problems()) == other


def test_a_build_without_layouts_is_written_as_it_always_was() -> None:
    alone = Artifact(sha256="a", code="c")
    assert encode(alone) == {"sha256": "a", "code": "c"}
    assert decode({"sha256": "a", "code": "c"}, Artifact, Problems()) == alone
    several = replace(alone, layouts=("b", "d"))
    assert encode(several)["layouts"] == ["b", "d"]
    assert decode(encode(several), Artifact, Problems()) == several
