"""Turns the decisions of contests into the verdicts by bucket that a record keeps, and computes these again from samples."""

from collections.abc import Mapping, Sequence

from expctl.domain.experiment.bucket_verdict import BucketVerdict
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.experiment.record import OBJECTIVE
from expctl.domain.protocol.model import Benchmark, KeepRule
from expctl.domain.tuning.contest import Bucket, Contest, answer_of, plan_for
from expctl.domain.verdict.samples import Sample
from expctl.domain.verdict.sequential_test import Decision
from expctl.domain.verdict.side import Side
from expctl.domain.verdict.statistics import percent

DIGITS = 8
NOTHING = "the screen found no config that may be faster"


def names_of(contest: Contest) -> dict[Side, str]:
    """Return what stands as config in the samples of a contest, by side."""
    return {Side.BASELINE: f"now, against {contest.key}", Side.CANDIDATE: contest.key}


def bucket_verdicts(buckets: Sequence[Bucket], decided: Mapping[Contest, Decision]) -> tuple[BucketVerdict, ...]:
    """Return a verdict for each contest, in the order of buckets; one without a contest for a bucket that had none."""
    found: list[BucketVerdict] = []
    for bucket in buckets:
        mine = [_verdict(contest, decision) for contest, decision in decided.items() if contest.bucket == bucket]
        none = BucketVerdict(file=bucket.file, bucket=bucket.name, shapes=bucket.shapes, verdict=Verdict.REJECT, reason=NOTHING)
        found += mine or [none]
    return tuple(found)


def again(verdict: BucketVerdict, samples: Sequence[Sample], benchmark: Benchmark, keep: KeepRule) -> BucketVerdict | None:
    """Compute a verdict again from the samples of all contests; None if they are too few."""
    bucket = Bucket(file=verdict.file, name=verdict.bucket, shapes=verdict.shapes)
    contest = Contest(bucket=bucket, config=verdict.config)
    names = set(names_of(contest).values())
    answer = answer_of([each for each in samples if each.config in names], plan_for(benchmark, keep, bucket.shapes))
    return _verdict(contest, answer) if isinstance(answer, Decision) else None


def _verdict(contest: Contest, decision: Decision) -> BucketVerdict:
    seen = decision.intervals.get(OBJECTIVE)
    return BucketVerdict(
        file=contest.bucket.file,
        bucket=contest.bucket.name,
        shapes=contest.bucket.shapes,
        verdict=decision.verdict,
        config=contest.config,
        reason=decision.reasons[0] if decision.reasons else "",
        effect_percent=round(percent(seen.mean), DIGITS) if seen else 0.0,
        low_percent=round(percent(seen.low), DIGITS) if seen else 0.0,
        high_percent=round(percent(seen.high), DIGITS) if seen else 0.0,
        rounds=seen.rounds if seen else 0,
    )
