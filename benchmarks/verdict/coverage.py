"""Do printed intervals hold the true effect, over all verdicts and within each of them?"""

from collections.abc import Mapping

from benchmarks.verdict.bars import FEW, LONG, Judged, at_least, line
from benchmarks.verdict.procedure import Tally
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.verdict.plan import Plan

OVER_ALL, WITHIN = 0.94, 0.9  # at least
VERDICTS = (Verdict.KEEP, Verdict.REJECT, Verdict.INCONCLUSIVE)


def coverage(found: Mapping[float, Tally], plan: Plan) -> int:
    """Print the shares of verdicts and the coverage of intervals by true effect; return the number of missed bars."""
    print(f"{'  true effect':<34}" + "".join(f"{100 * effect:>+11.2f} % " for effect in found))
    lines = [line("coverage over all verdicts", [_over_all(each) for each in found.values()], f">= {100 * OVER_ALL:g}")]
    for verdict in VERDICTS:
        lines.append(line(f"{verdict}: share of trials", [Judged(value=each.share_of(verdict)) for each in found.values()]))
        lines.append(_within(verdict, found, plan))
    print("\n".join(text for text, _ in lines))
    return sum(fails for _, fails in lines)


def right(verdict: Verdict, effect: float, plan: Plan) -> bool:
    """Is this verdict right, or at least not wrong, at this true effect? A worthwhile gain must not be ruled out."""
    return {Verdict.KEEP: effect > plan.floor, Verdict.REJECT: effect < plan.ceiling, Verdict.INCONCLUSIVE: True}[verdict]


def _over_all(found: Tally) -> Judged:
    return at_least(OVER_ALL, found.coverage, found.trials)


def _within(verdict: Verdict, found: Mapping[float, Tally], plan: Plan) -> tuple[str, int]:
    judged = []
    for effect, each in found.items():
        some, share = each.found[verdict], each.coverage_of(verdict)
        judges = some >= FEW and right(verdict, effect, plan)
        judged.append(at_least(WITHIN, share, some, long=each.trials >= LONG) if judges else Judged(value=share))
    shown = "".join(
        each.words if tally.found[verdict] else f"{'-':>13} " for each, tally in zip(judged, found.values(), strict=True)
    )
    return f"  {f'{verdict}: coverage':<32}{shown}{f'>= {100 * WITHIN:g}':>13}", sum(each.missed for each in judged)
