"""Try a do-not-repeat rule on a commit: does its own change still fit, what do compilers make of it, what can it refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from expctl.domain.rules.conditions import changed_conditions
from expctl.domain.rules.match_levels import Level, failing_target_of, levels_of
from expctl.domain.rules.matching import void_patterns
from expctl.domain.rules.meaning import CompiledChange, Version, View, Wanted
from expctl.domain.rules.trial import Trial
from expctl.domain.rules.words import checked_words
from expctl.flow.rules.by_meaning import judging_targets

if TYPE_CHECKING:
    from expctl.domain.experiment.record import Record
    from expctl.ports.rules import Rulebook


def try_rule(rulebook: Rulebook, commit: str, record: Record) -> Trial:
    """Try the rule of `record` at `commit`, compiling its patch for the targets that can judge it."""
    now = rulebook.circumstances(commit)
    patch = rulebook.rejected_patch(commit, record.id)
    misfits = rulebook.misfits(commit, patch) if patch else None
    fits = None if misfits is None else not misfits
    carried = rulebook.carried(commit, record.base, patch) if patch and misfits else None
    placed = patch if fits else carried
    void = void_patterns(record, now)
    forbids = record.rule.forbids if record.rule is not None else ()
    lost = {Level.PATTERN} if forbids and len(void) == len(forbids) else set()
    return Trial(
        id=record.id,
        fits=fits,
        carried=carried is not None,
        compiled=_compiled(rulebook, commit, record, placed) if placed else (),
        words=checked_words(record.rule) if record.rule is not None else None,
        lapses=changed_conditions(record, now),
        void=tuple(void.items()),
        levels=tuple(level for level in levels_of(record) if level not in lost),
    )


def _compiled(rulebook: Rulebook, commit: str, record: Record, patch: bytes) -> tuple[tuple[str, str], ...]:
    meanings = rulebook.meanings(commit)
    if meanings is None or not meanings.targets():
        return ()
    targets = judging_targets(meanings.protocol, meanings.targets(), failing_target_of(record), record.target)
    versions = (Version(commit), Version(commit, patch))
    made = meanings.compiled([Wanted(each, target, View.MEANING) for target in targets for each in versions])
    pairs = zip(targets, made[::2], made[1::2], strict=True)
    return tuple((name, _said(CompiledChange(before=old, after=new))) for name, old, new in pairs if old and new)


def _said(change: CompiledChange) -> str:
    if change.before.fault:
        return "not comparable: the state without it doesn't compile"
    if change.fault:
        return f"doesn't compile: {change.fault.splitlines()[0]}"
    count = len(change.functions)
    return f"changes {count} function{'s' if count != 1 else ''}" if count else "changes nothing: the rule is without subject"
