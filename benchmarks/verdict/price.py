"""Is the price of an undecided search right? Goes on with the quoted rounds, and with all there are, on the noisy machine."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.verdict.bars import LONG, Judged, at_least, at_most, line
from benchmarks.verdict.machines import NOISY, noise_of
from benchmarks.verdict.procedure import ROUNDS, Slices, made_rounds, sessions, settle
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.protocol.boundaries import EXTENDED_ROUNDS
from expctl.domain.verdict.cost_to_decide import ENOUGH, best_offer
from expctl.domain.verdict.evidence import evidence_of
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import Session
from expctl.domain.verdict.sequential_test import Decision

EFFECTS = (0.0, 0.00125, 0.0025)
DECIDED, FALSE = 0.8, 0.001  # of quoted searches, at least; of all trials without an effect, at most


@dataclass(frozen=True, slots=True, kw_only=True)
class Extended:
    """What came of one undecided search: the rounds it was quoted, the rounds it took, how it ended with all rounds there are.

    `quoted` is 0 where the price says that even those would hardly decide.
    """

    quoted: int
    took: int
    verdict: Verdict

    @property
    def decided(self) -> bool:
        """Did the quoted rounds decide?"""
        return self.took <= self.quoted and self.verdict is not Verdict.INCONCLUSIVE


def price(draw: np.random.Generator, plan: Plan, trials: int) -> int:
    """Print what came of undecided experiments that went on; return the number of missed bars."""
    heads = ("undecided", "without quote", "rounds quoted", "rounds taken", "decided", "KEEP in all", "bar")
    print(f"\n{'noisy: undecided searches go on':<34}" + "".join(f"{head:>14}" for head in heads))
    noise = sessions(draw, noise_of(NOISY), trials, (EXTENDED_ROUNDS, EXTENDED_ROUNDS))
    quotes: list[Extended] = []
    fails = 0
    for effect in EFFECTS:
        went_on, kept = _extended(noise, plan, effect)
        quoted = [each for each in went_on if each.quoted]
        figures = (
            np.mean(each) if each else np.nan
            for each in (
                [each.quoted for each in quoted],
                [min(each.quoted, each.took) for each in quoted],
                [100 * each.decided for each in quoted],
            )
        )
        keeps = Judged(value=kept / trials) if effect else at_most(FALSE, kept / trials, trials)
        bar = "" if effect else f"{f'<= {100 * FALSE:g}':>13}"
        counts = f"{len(went_on):>13} {len(went_on) - len(quoted):>13} "
        print(f"  {f'{100 * effect:+.3f} %':<32}{counts}" + "".join(f"{each:>13.1f} " for each in figures) + keeps.words + bar)
        fails += keeps.missed
        quotes += quoted
    if not quotes:
        return fails
    decided = at_least(DECIDED, sum(each.decided for each in quotes) / len(quotes), len(quotes), long=trials >= LONG)
    text, missed = line("quoted rounds decided", [decided], f">= {100 * DECIDED:g}")
    print(text)
    return fails + missed


def _extended(noise: Slices, plan: Plan, effect: float) -> tuple[list[Extended], int]:
    """Return the undecided searches, and how many trials are kept once every INCONCLUSIVE goes on to the end."""
    more, shift = plan.extend(), lambda _: effect

    def of_slice(_: np.random.Generator, trials: Iterator[tuple[np.ndarray, np.ndarray]]) -> tuple[list[Extended], int]:
        found, kept = [], 0
        for search, confirm in trials:
            first = settle(search, confirm, plan, shift=shift)
            last = settle(search, confirm, more, shift=shift) if first.verdict is Verdict.INCONCLUSIVE else first
            kept += last.verdict is Verdict.KEEP
            if first.verdict is Verdict.INCONCLUSIVE and _rounds(first)[1] == 0:
                seen = evidence_of(made_rounds(search[:ROUNDS] + effect, plan), plan, Session.SEARCH)
                offer = best_offer(seen, Session.SEARCH)
                quoted = offer.rounds if offer.chance >= ENOUGH else 0
                found.append(Extended(quoted=quoted, took=sum(_rounds(last)) - ROUNDS, verdict=last.verdict))
        return found, kept

    parts = noise.each(of_slice)
    return [each for found, _ in parts for each in found], sum(kept for _, kept in parts)


def _rounds(decision: Decision) -> tuple[int, int]:
    if decision.procedure is None:
        raise TypeError("decided without a procedure")
    return decision.procedure.search_rounds, decision.procedure.confirm_rounds
