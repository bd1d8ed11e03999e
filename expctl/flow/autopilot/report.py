"""Sum up what happened since a date, of committed records and the campaign's account. Reads only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from expctl.domain.errors import Misused
from expctl.domain.experiment.ids import id_order
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.queue.night import NightEvent, Usage, What
from expctl.domain.queue.ordering import Entry, State, asked_experiments
from expctl.flow.repository.pending import read_queue

if TYPE_CHECKING:
    from expctl.domain.ledger.record_summary import RecordSummary
    from expctl.ports.repository import Library

PERSON = (State.BLOCKED, State.MALFORMED, State.CHANGED, State.INVALID, State.SKIPPED)
FORM = "%Y-%m-%dT%H:%M:%SZ"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """One experiment that was concluded: its effect on the objective in percent, with its interval; None if it wasn't timed."""

    id: str
    title: str
    target: str
    verdict: Verdict
    date: str
    why: str
    effect_percent: float | None
    low_percent: float | None
    high_percent: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What happened since the date `since`. `ran` are concluded experiments, oldest first. `learned` are new rules and
    findings, `waits` what needs a person. `calls` counts how calls of the proposer ended, `refusals` why they were refused, by
    code; `usage` is what they cost; `ended` says why campaigns ended.
    """

    since: str
    ran: tuple[Ran, ...]
    verdicts: Mapping[str, int]
    learned: tuple[str, ...]
    waits: tuple[str, ...]
    calls: Mapping[str, int]
    refusals: Mapping[str, int]
    usage: Usage
    ended: tuple[str, ...]


def began_at(text: str, now: datetime | None = None) -> str:
    """Return the date that `text` names, in UTC as records have it: an hour of the last 24, by local time, or an ISO date.
    Raises Misused for anything else.
    """
    local = (now or datetime.now(UTC)).astimezone()
    try:
        if len(text) == 5 and text[2] == ":":
            hour = datetime.strptime(text, "%H:%M").time()  # noqa: DTZ007  its zone is that of `local`
            found = local.replace(hour=hour.hour, minute=hour.minute, second=0, microsecond=0)
            found = found if found <= local else found - timedelta(days=1)
        else:
            found = datetime.fromisoformat(text)
            found = found if found.tzinfo is not None else found.replace(tzinfo=local.tzinfo)
    except ValueError as error:
        raise Misused(
            "--since is no time",
            code="not-a-time",
            expected="an hour such as 22:00, or a date such as 2026-02-18 or 2026-02-18T22:00Z",
            found=text,
            hint="expctl report --since 22:00",
        ) from error
    return found.astimezone(UTC).strftime(FORM)


def report_since(library: Library, head: str, events: Sequence[NightEvent], *, since: str) -> Report:
    """Sum up what the commit `head` has of experiments concluded since a date, and `events` of the proposer's calls."""
    digests = [each for each in library.digests(head) if not each.imported]
    new = sorted((each for each in digests if each.date >= since), key=lambda each: (each.date, id_order(each.id)))
    night = [each for each in events if each.at >= since]
    verdicts = Counter(each.verdict for each in new)
    return Report(
        since=since,
        ran=tuple(_ran(each) for each in new),
        verdicts={verdict.value: verdicts[verdict] for verdict in Verdict if verdicts[verdict]},
        learned=tuple(_learned(library, head, new, since)),
        waits=tuple(_waits(library, head, new)),
        calls=dict(Counter(each.what.value for each in night if each.what in (What.PROPOSED, What.REFUSED, What.FAILED))),
        refusals=dict(Counter(each.code for each in night if each.what in (What.REFUSED, What.FAILED)).most_common()),
        usage=_usage(night),
        ended=tuple(each.why for each in night if each.what is What.ENDED),
    )


def _ran(each: RecordSummary) -> Ran:
    return Ran(
        id=each.id,
        title=each.title,
        target=each.target,
        verdict=each.verdict,
        date=each.date,
        why=each.why,
        effect_percent=each.effect_percent,
        low_percent=each.low_percent,
        high_percent=each.high_percent,
    )


def _learned(library: Library, head: str, new: Sequence[RecordSummary], since: str) -> list[str]:
    found = [f"rule of {each.ban.sentence}" for each in new if each.ban is not None]
    ids = {each.id for each in new}
    standing = [each for each in library.findings(head) if each.stands]
    findings = [each for each in standing if {each.since, *each.evidence} & ids or since[:10] <= each.since < "3"]
    return [*found, *(f"finding {each.id}: {each.text}" for each in findings)]


def _waits(library: Library, head: str, new: Sequence[RecordSummary]) -> list[str]:
    entries = read_queue(library, head).entries()
    coming = {each.id for each in entries if each.state in (State.READY, State.WAITING)}
    needed = [each for each in entries if each.state in PERSON or _is_stuck(each, coming)]
    found = [f"{each.id} is {each.state}: {each.why}" for each in needed]
    found += [f"{each.id}: {debt}" for each in new for debt in each.debts]
    return found + [f"{each.id} is INCONCLUSIVE: {each.reason}" for each in new if each.verdict is Verdict.INCONCLUSIVE]


def _is_stuck(entry: Entry, coming: Collection[str]) -> bool:
    """Does a proposal wait for what nothing in the queue will bring: an experiment that there isn't, or that is undecided?"""
    return entry.state is State.WAITING and asked_experiments([entry.proposal]).isdisjoint(coming)


def _usage(events: Sequence[NightEvent]) -> Usage:
    total = Usage()
    for each in events:
        total = total.plus(each.usage)
    return total
