"""A campaign's account of its proposer: what each call left, what it cost, and when the proposer goes in circles. Pure.

The events of one campaign lie in a file, so that a killed `run --all` goes on with what is left of its budget.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise, takewhile

from msgspec import Struct

from expctl.domain.experiment.machine_times import Count

CIRCLES = 3
"""Refusals or repeats in a row, on one idea, after which a proposer isn't asked again."""
ALIKE = 0.5
_WORD = re.compile(r"[a-z0-9_]{2,}")


class What(StrEnum):
    """The kind of an event: a campaign begins, goes on after a kill or ends; a step of it is done; a call of the proposer was
    refused, failed or was queued.
    """

    BEGAN = "began"
    RESUMED = "resumed"
    STEP = "step"
    PROPOSED = "proposed"
    REFUSED = "refused"
    FAILED = "failed"
    ENDED = "ended"


class Usage(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a call of an agent has cost, as the agent reports it: tokens read and written, and money in the currency it uses."""

    tokens: Count = 0
    money: float = 0.0

    def plus(self, other: Usage) -> Usage:
        """Return the sum of both."""
        return Usage(tokens=self.tokens + other.tokens, money=round(self.money + other.money, 6))


class NightEvent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line of a campaign's account. `at` is an ISO date; `head` the branch's commit where it began.

    `id` and `title` are those of the proposal, as far as it had any; `code`, `refused`, `found` and `where` the refusal's.
    `patch` identifies the change ("": none); `why` says why the campaign ended.
    """

    at: str
    what: What
    head: str = ""
    id: str = ""
    title: str = ""
    patch: str = ""
    code: str = ""
    refused: str = ""
    found: str = ""
    where: str = ""
    usage: Usage = Usage()
    why: str = ""


class KeptCall(Struct, frozen=True, kw_only=True):
    """What a call has left, until it is queued or refused: `call` is the number of calls before it, `text` experiment.yaml."""

    call: Count
    text: bytes
    patch: bytes
    usage: Usage
    head: str


class Night(Struct, frozen=True, kw_only=True):
    """The present campaign, as far as its account goes: the events since it began."""

    events: tuple[NightEvent, ...]

    @property
    def began(self) -> NightEvent:
        """Return its first event."""
        return self.events[0]

    @property
    def calls(self) -> int:
        """Return how many calls of the proposer have ended."""
        return len(self._answers())

    @property
    def usage(self) -> Usage:
        """Return what all calls have cost."""
        total = Usage()
        for each in self.events:
            total = total.plus(each.usage)
        return total

    @property
    def faults(self) -> int:
        """Return how many of the last calls in a row have failed."""
        return sum(1 for _ in takewhile(lambda each: each.what is What.FAILED, reversed(self._answers())))

    def stretches(self) -> tuple[tuple[str, str], ...]:
        """Return the dates between which it is known to have worked: a kill ends a stretch at the last event before it."""
        begins = [at for at, each in enumerate(self.events) if each.what in (What.BEGAN, What.RESUMED)]
        ends = [*(at - 1 for at in begins[1:]), len(self.events) - 1]
        return tuple((self.events[a].at, self.events[b].at) for a, b in zip(begins, ends, strict=True))

    def circles(self) -> str:
        """Return in words that the last CIRCLES calls were all refused and about one idea; "" if they weren't."""
        last = self._answers()[-CIRCLES:]
        if len(last) < CIRCLES or any(each.what is not What.REFUSED for each in last):
            return ""
        if not all(is_one_idea(before, after) for before, after in pairwise(last)):
            return ""
        named = next((f"{each.title!r}" for each in reversed(last) if each.title), "proposals that can't be read")
        return f"the proposer circles: {CIRCLES} refusals in a row on one idea, {named} ({last[-1].refused})"

    def _answers(self) -> list[NightEvent]:
        return [each for each in self.events if each.what in (What.PROPOSED, What.REFUSED, What.FAILED)]


def present_night(events: Sequence[NightEvent]) -> Night | None:
    """Return the campaign that was begun last and has not ended; None if there is none."""
    begins = [at for at, each in enumerate(events) if each.what is What.BEGAN]
    if not begins:
        return None
    last = tuple(events[begins[-1] :])
    return None if last[-1].what is What.ENDED else Night(events=last)


def is_one_idea(before: NightEvent, after: NightEvent) -> bool:
    """Are two refused proposals about one idea? They are if their change is the same, if one rule or experiment refuses both,
    if half of the words of their titles are the same, or if they can't be told apart: no titles, and the same refusal.
    """
    if before.patch and before.patch == after.patch:
        return True
    if before.code == after.code and before.where == after.where and before.where.startswith("experiments/P"):
        return True
    one, other = (set(_WORD.findall(each.title.lower())) for each in (before, after))
    if not one or not other:
        return not one and not other and (before.code, before.found) == (after.code, after.found)
    return len(one & other) >= ALIKE * len(one | other)
