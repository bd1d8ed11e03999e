"""The verdict on one bucket of a table of configs, in the record of a tuning."""

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

    @property
    def text(self) -> str:
        """Return the line that `show` and the console print."""
        what = (
            f"{self.config} {self.effect_percent:+.2f} % [{self.low_percent:+.2f}, {self.high_percent:+.2f}]"
            if self.rounds
            else ""
        )
        return f"{self.file} {self.bucket}: {self.verdict} {what or self.reason}"
