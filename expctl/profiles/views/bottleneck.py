"""The bottleneck report and the check of a claimed gain, as lines for a terminal."""

from expctl.domain.experiment.figures import time_text
from expctl.domain.layout import Column, named_table
from expctl.profiles.bottleneck.amdahl import Claim
from expctl.profiles.bottleneck.report import BottleneckReport


def bottleneck_lines(found: BottleneckReport, claim: Claim | None, width: int = 0) -> list[str]:
    """Return the report as text whose table fits into `width` columns (0: no limit), with the check of `claim` unless None."""
    columns = [
        Column("share", [f"{each.share_percent:.1f} %" for each in found.parts]),
        Column("run at most", ["-" if each.most_times is None else f"{each.most_times:.2f} times" for each in found.parts], 2),
        Column("twice as fast", [f"{each.twice_percent:.1f} %" for each in found.parts], 1),
        Column("at its roof", ["-" if each.roof_percent is None else f"{each.roof_percent:.1f} %" for each in found.parts], 3),
        Column("rung", [str(each.rung.level) for each in found.parts], 4),
    ]
    lines, _ = named_table(columns, Column("class", [each.name for each in found.parts]), width, indent=2)
    said = [f"  next      {found.next_part}: {found.reason}", f"  rung {found.next_rung.level}    {found.next_rung.advice}"]
    said += [f"  playbook  expctl new --from {found.next_rung.playbook}"] if found.next_rung.playbook else []
    checked = [f"  claim     {claim.verdict}: {claim.sentence}"] if claim else []
    unknown = f"{found.unidentified_percent:.2f} % of the kernels' time unidentified"
    whole = f"  {time_text(found.whole_ns)} of kernels and idle time, {unknown}"
    return [whole, "", *lines, "", *said, *checked]
