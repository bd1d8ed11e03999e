"""What compilers tell of a patch, as it is kept; without what compares compiled changes: `rules check` has to be quick."""

from __future__ import annotations

from typing import TYPE_CHECKING

from expctl.domain.rules.match_levels import Level
from expctl.domain.rules.matching import Match
from expctl.domain.rules.told import Near, Told

if TYPE_CHECKING:
    from expctl.domain.rules.current_facts import CurrentFacts
    from expctl.ports.rules import Rulebook


def compiled_matches(
    rulebook: Rulebook, commit: str, patch: bytes, now: CurrentFacts, *, own_id: str = ""
) -> tuple[tuple[Match, ...], tuple[Near, ...]]:
    """Return all rules in force that know `patch` only once it is compiled, and rejected changes that it is close to. Both are
    kept, and asked for again once the commit, the patch, a compiler or the machine is another one.
    """
    if rulebook.misfits(commit, patch):
        return (), ()

    def ask() -> tuple[Told, ...]:
        from expctl.flow.rules.by_words import matches_once_compiled

        same, near = matches_once_compiled(rulebook, commit, patch, now, own_id=own_id)
        told = [Told(id=each.record.id, level=each.level, likeness=each.likeness, patterns=each.patterns) for each in same]
        return (*told, *(Told(id=each.record.id, percent=each.percent) for each in near))

    told = rulebook.told(commit, patch, now, ask, own_id=own_id)
    records = {each.id: each for each in rulebook.ruled(commit)} if told else {}
    same = tuple(
        Match(record=records[each.id], level=Level(each.level), likeness=each.likeness, patterns=each.patterns)
        for each in told
        if each.level
    )
    return same, tuple(Near(record=records[each.id], percent=each.percent) for each in told if not each.level)
