"""The simulation of a tuning, in short: its bars are held, the usual ways miss them, and a seed gives the same again."""

import numpy as np

from benchmarks.tune.machine import landscape
from benchmarks.tune.simulate import SEED, Chosen, Way, best_of_one_run, every_verdict, missed, quality, retimed, tuned
from benchmarks.verdict.machines import TYPICAL

BUCKETS = 12


def test_a_tuning_holds_its_bars_and_the_usual_ways_do_not() -> None:
    made = np.random.default_rng(SEED)
    buckets = [landscape(made) for _ in range(BUCKETS)]

    def chosen(way: Way) -> list[Chosen]:
        return [way(np.random.default_rng([SEED, at]), TYPICAL, each) for at, each in enumerate(buckets)]

    ours, brute = quality(buckets, chosen(tuned)), quality(buckets, chosen(every_verdict))
    assert missed(ours, brute, BUCKETS) == []
    assert any("launches" in each for each in missed(brute, brute, BUCKETS))
    worst = [
        Chosen(config=max(each.loss, key=lambda name: each.loss[name]), compared=tuple(each.loss), launches=1)
        for each in buckets
    ]
    assert [bar.split()[0] for bar in missed(quality(buckets, worst), brute, BUCKETS)] == ["within", "spoilt", "mean"]
    assert quality(buckets, chosen(best_of_one_run)).regret > ours.regret
    again = quality(buckets, chosen(retimed))
    assert again.near < ours.near
    assert (again.selection, again.exploration) >= (ours.selection, ours.exploration)
    assert quality(buckets, chosen(tuned)) == ours
