"""The running estimate of a measurement that is not decided yet, and the time that it will likely still take.

The estimate is the interval of the last look, the one by which the run decides, so it holds although it is looked at again and
again. The time is a forecast: it takes the true effect as normally distributed about the mean so far.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from expctl.domain.experiment.proposal import Verdict
from expctl.domain.protocol.boundaries import CONFIRM, CONFIRM_LAUNCHES_ROUNDS, CONFIRM_MERGES, SEARCH
from expctl.domain.verdict.cost_to_decide import Forecast, Look
from expctl.domain.verdict.evidence import OBJECTIVE, Evidence, evidence_of
from expctl.domain.verdict.interference import counted
from expctl.domain.verdict.lasting_gain import launches_needed
from expctl.domain.verdict.paired_rounds import by_pairs
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import RoundEffect, Sample, Session, round_effects
from expctl.domain.verdict.sequential_test import Decision, decide

Spell = tuple[float, float]
"""A possible length in seconds, and its chance (0..1)."""


class Outlook(Struct, frozen=True, kw_only=True):
    """How far a session is: `done` of at most `most` rounds. `estimate` is the objective's interval at the last look, in words;
    `gain` its sign where zero lies outside (else 0). Before the first look it is "". `left_s` are the seconds until the verdict
    and the profile after it, as far as they can be foretold (median); None if they can't.
    """

    session: Session
    done: int
    most: int
    estimate: str = ""
    gain: int = 0
    left_s: float | None = None


class Costs(Struct, frozen=True, kw_only=True):
    """Seconds that a run takes besides its rounds: to begin a confirmation (burn-in, quiet machine), and to end a KEEP."""

    confirm_s: float = 0.0
    keep_s: float = 0.0


def outlook_of(samples: Sequence[Sample], plan: Plan, costs: Costs | None = None) -> Outlook:
    """Return how far the measurement with these `samples` is, in the session of its last round; there must be a round."""
    effects = by_pairs(round_effects(counted(samples)), plan.respawn).effects
    search, confirm = ([each for each in effects if each.session is session] for session in Session)
    session = max(samples, key=lambda each: each.round).session or Session.SEARCH
    rounds = confirm if session is Session.CONFIRM else search
    seen = _last_look(rounds, plan, session)
    interval = seen.objective if seen else None
    done = len({each.round for each in samples if (each.session or Session.SEARCH) is session})
    return Outlook(
        session=session,
        done=done,
        most=_most(plan, session, done),
        estimate=seen.describe(OBJECTIVE) if seen else "",
        gain=0 if interval is None else (interval.low > 0) - (interval.high < 0),
        left_s=seconds_left(search, confirm, plan, costs),
    )


def _most(plan: Plan, session: Session, done: int) -> int:
    """Return how many rounds a session may have; a confirmation gets more than planned where only launches are missing."""
    if session is Session.SEARCH:
        return plan.respawn * plan.rounds
    most = plan.respawn * plan.confirm
    return most if done <= most else plan.respawn * max(plan.confirm, CONFIRM_LAUNCHES_ROUNDS)


def _last_look(rounds: Sequence[RoundEffect], plan: Plan, session: Session) -> Evidence | None:
    bounds, merged = (CONFIRM, CONFIRM_MERGES) if session is Session.CONFIRM else (SEARCH, 1)
    looks = bounds.until(len(rounds) // merged)
    return evidence_of(rounds[: looks[-1] * merged], plan, session) if looks else None


def seconds_left(
    search: Sequence[RoundEffect], confirm: Sequence[RoundEffect], plan: Plan, costs: Costs | None = None
) -> float | None:
    """Return the median of the seconds that the run will still take; None before the first look of the search."""
    costs = costs or Costs()
    if len(search) < SEARCH.looks[0]:
        return None
    answer = decide([*search, *confirm], plan)
    if isinstance(answer, Decision):
        return costs.keep_s if answer.verdict is Verdict.KEEP else 0.0
    if answer.session is Session.SEARCH:
        return _median(sorted(_of_search(search, plan, costs)))
    return (0.0 if confirm else costs.confirm_s) + _median(sorted(_of_confirmation(search, confirm, plan, costs)))


def _of_search(search: Sequence[RoundEffect], plan: Plan, costs: Costs) -> Iterator[Spell]:
    """Yield how long search and confirmation may take, over the effects that may be the true one."""
    forecast = Forecast(evidence_of(search, plan, Session.SEARCH), OBJECTIVE)
    n, round_s = len(search), _round_s(search)
    looks = [look for look in SEARCH.until(plan.rounds) if look > n]
    for truth, weight in forecast.likely_effects():
        after = [
            (costs.confirm_s + CONFIRM_MERGES * each.n * round_s + each.keeps * costs.keep_s, each.chance)
            for each in _ends(_confirm_looks(forecast, truth, plan, searched=n, done=0))
        ]
        for end in _ends(forecast.search_looks(truth, looks)):
            searched_s = (end.n - n) * round_s
            yield searched_s, weight * end.chance * (1 - end.keeps)
            yield from ((searched_s + seconds, weight * end.chance * end.keeps * chance) for seconds, chance in after)


def _of_confirmation(
    search: Sequence[RoundEffect], confirm: Sequence[RoundEffect], plan: Plan, costs: Costs
) -> Iterator[Spell]:
    done = len(confirm) // CONFIRM_MERGES
    sees = done >= CONFIRM.looks[0]
    forecast = Forecast(evidence_of(*((confirm, plan, Session.CONFIRM) if sees else (search, plan, Session.SEARCH))), OBJECTIVE)
    done = done if sees else 0
    for truth, weight in forecast.likely_effects():
        for end in _ends(_confirm_looks(forecast, truth, plan, searched=len(search), done=done)):
            rounds = CONFIRM_MERGES * end.n - len(confirm)
            yield rounds * _round_s(confirm or search) + end.keeps * costs.keep_s, weight * end.chance


def _confirm_looks(forecast: Forecast, truth: float, plan: Plan, *, searched: int, done: int) -> list[Look]:
    """Return the chances at the looks of a confirmation after `done` pairs. A gain waits for the launches that a KEEP needs (up
    to twice as long); without one, the confirmation ends after `plan.confirm` rounds.
    """
    needed = launches_needed(plan, truth - plan.floor) / plan.launches - searched
    most = plan.confirm // CONFIRM_MERGES
    last = max(plan.confirm, CONFIRM_LAUNCHES_ROUNDS) // CONFIRM_MERGES if plan.slow_launch else most
    looks = forecast.confirm_looks(truth, [pairs for pairs in CONFIRM.until(last) if pairs > done], done=done)
    return [
        Look(
            n=each.n,
            keeps=each.keeps if each.n * CONFIRM_MERGES >= needed else 0.0,
            rejects=each.rejects if each.n < most else 1 - each.keeps,
        )
        for each in looks
    ]


class _End(Struct, frozen=True):
    """A look at which a session may end: after `n` values, with the chance that it does, and the share of gains in that."""

    n: int
    chance: float
    keeps: float


def _ends(looks: Sequence[Look]) -> Iterator[_End]:
    """Yield where a session with these looks ends. A session that has ended stays so: its chances only grow from look to look;
    what the last look leaves open ends there, as undecided.
    """
    kept = rejected = 0.0
    for look in looks:
        keeps = min(max(kept, look.keeps), 1 - rejected)
        rejects = min(max(rejected, look.rejects), 1 - keeps)
        grown = keeps - kept + rejects - rejected
        last = look is looks[-1]
        chance = grown + (1 - keeps - rejects if last else 0.0)
        if chance > 0:
            yield _End(look.n, chance, (keeps - kept) / chance)
        kept, rejected = keeps, rejects


def _round_s(rounds: Sequence[RoundEffect]) -> float:
    """Return the mean duration of the last rounds, in which the machine is as it is now."""
    last = [each.duration_s for each in rounds[-10:]]
    return sum(last) / len(last)


def _median(spells: Sequence[Spell]) -> float:
    half, passed = sum(chance for _, chance in spells) / 2, 0.0
    for seconds, chance in spells:
        passed += chance
        if passed >= half:
            return seconds
    return 0.0
