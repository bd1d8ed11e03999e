"""What came of the blind experiments of live.py, as a table with bars."""

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass

CLASSES = ("A/A", "slow", "gain", "moved", "tail")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What expctl said of a case. Seconds are of the whole `expctl run`."""

    id: str
    case: int
    truth: str
    effect_percent: float
    verdict: str
    estimate_percent: float | None
    low_percent: float | None
    high_percent: float | None
    round_sd_percent: float | None
    search_rounds: int
    confirm_rounds: int
    run_s: float
    target: str
    machine: str


def table(results: Iterable[Result]) -> tuple[str, bool]:
    """The table, and whether every bar holds: no KEEP but of gains, all but one gain in 15 kept, at most a tenth INVALID."""
    everything = list(results)
    valid = [each for each in everything if each.verdict != "INVALID"]
    heads = ("truth", "runs", "KEEP", "REJECT", "INCONCLUSIVE", "rounds", "of CONFIRM", "seconds", "sd %", "bar", "")
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "--:|" * (len(heads) - 3) + "---|---|"]
    good = bool(valid)
    for truth in CLASSES:
        some = [each for each in valid if each.truth == truth]
        if not some:
            continue
        kept = sum(each.verdict == "KEEP" for each in some)
        least = len(some) - max(1, len(some) // 15)
        holds = kept >= least if truth == "gain" else kept == 0
        good &= holds
        effects = sorted({each.effect_percent for each in some})
        spread = " to ".join(f"{effect:+.2f} %" for effect in dict.fromkeys((effects[0], effects[-1])))
        name = truth if effects == [0.0] else f"{truth} {spread}"
        cells = [
            name,
            str(len(some)),
            *(str(sum(each.verdict == verdict for each in some)) for verdict in ("KEEP", "REJECT", "INCONCLUSIVE")),
            f"{statistics.mean(each.search_rounds for each in some):.1f}",
            f"{statistics.mean(each.confirm_rounds for each in some):.1f}",
            f"{statistics.mean(each.run_s for each in some):.0f}, at most {max(each.run_s for each in some):.0f}",
            f"{_root_mean_square(each.round_sd_percent for each in some):.3f}",
            f"KEEP >= {least}" if truth == "gain" else "KEEP 0",
            "holds" if holds else "missed",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    invalid = len(everything) - len(valid)
    good &= invalid <= 0.1 * len(everything)
    sd = _root_mean_square(each.round_sd_percent for each in valid)
    mde = (2.576 + 1.645) * sd / math.sqrt(10)
    lines += ["", f"INVALID and run again: {invalid} of {len(everything)} (bar: a tenth)."]
    lines += [f"Pooled sd of a round {sd:.3f} %, so 2 MDE(10) = {2 * mde:.2f} %."]
    return "\n".join(lines), good


def _root_mean_square(values: Iterable[float | None]) -> float:
    given = [value for value in values if value is not None]
    return math.sqrt(statistics.mean(value * value for value in given)) if given else math.nan
