"""The verdict on one bucket of a table of configs, in the record of a tuning."""

from collections.abc import Iterable

from msgspec import Struct

from expctl.domain.experiment.machine_times import Count
from expctl.domain.experiment.proposal import Verdict


class BucketVerdict(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A finalist against what a bucket had: `file` and `bucket` of the table, the `shapes` timed, and the verdict.

    The effect is in percent of throughput with its interval, over the shapes of the bucket, from `contests.jsonl`. A bucket
    whose screen found nothing to compare has neither config nor rounds. A screened figure is not kept.
    """

    file: str
    bucket: str
    shapes: tuple[str, ...]
    verdict: Verdict
    config: str = ""
    reason: str = ""
    effect_percent: float = 0.0
    low_percent: float = 0.0
    high_percent: float = 0.0
    rounds: Count = 0


def bucket_lines(verdicts: Iterable[BucketVerdict]) -> list[str]:
    """Return the lines that `show` and the console print: one for each contest, then one for a file's buckets without one."""
    timed: list[str] = []
    others: dict[tuple[str, str], list[str]] = {}
    for each in verdicts:
        if each.rounds:
            effect = f"{each.effect_percent:+.2f} % [{each.low_percent:+.2f}, {each.high_percent:+.2f}]"
            timed.append(f"{each.file} {each.bucket}: {each.verdict} {each.config} {effect}")
        else:
            others.setdefault((each.file, f"{each.verdict} {each.reason}"), []).append(each.bucket)
    return [*timed, *(f"{file} {', '.join(buckets)}: {what}" for (file, what), buckets in others.items())]
