"""What a do-not-repeat rule can do at a commit."""

from __future__ import annotations

from msgspec import Struct

from expctl.domain.experiment.record import ChangedCondition
from expctl.domain.rules.match_levels import Level
from expctl.domain.rules.words import CheckedWords


class Trial(Struct, frozen=True, kw_only=True):
    """What a rule can do at a commit. `fits`: does its patch apply (None: there is none). `carried`: it doesn't, but a merge
    makes one of it that does. `compiled` says by target what the patch does there now. `words` are what is checked of its text,
    `lapses` changed conditions, `void` patterns that refuse nobody. `levels` are those at which it can refuse a change.
    """

    id: str
    fits: bool | None
    carried: bool
    compiled: tuple[tuple[str, str], ...]
    words: CheckedWords | None
    lapses: tuple[ChangedCondition, ...]
    void: tuple[tuple[str, str], ...]
    levels: tuple[Level, ...]

    @property
    def refuses(self) -> bool:
        """Can it refuse anything here?"""
        return bool(self.levels) and not self.lapses
