"""Compare a change with rules that were kept in words: an instruction in the compiled code, a pattern after preprocessing.

Such a rule has no patch to compile. What it says is looked for where the compiler has made one spelling of many: macros are
expanded, types are named in an error, constants are numbers, and an instruction stands in its source function.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from expctl.domain.patch.patterns import forbidden
from expctl.domain.rules.conditions import changed_conditions
from expctl.domain.rules.match_levels import Level, failing_target_of
from expctl.domain.rules.matching import LIKENESS, Match, void_patterns
from expctl.domain.rules.meaning import CompiledChange, Version, View, Wanted, added_statements
from expctl.domain.rules.told import Told
from expctl.domain.rules.words import assembly_as_builtins, checked_words, says, tuples_alone
from expctl.flow.rules.by_meaning import by_meaning, judging_targets, rejected_compiled

if TYPE_CHECKING:
    from expctl.domain.experiment.record import Record
    from expctl.domain.rules.current_facts import CurrentFacts
    from expctl.domain.rules.told import Near
    from expctl.domain.rules.words import CheckedWords
    from expctl.ports.rules import Meanings, Rulebook

AFTER = ", once the preprocessor is done"


def matches_once_compiled(
    rulebook: Rulebook, commit: str, patch: bytes, now: CurrentFacts, *, own_id: str
) -> tuple[tuple[Match, ...], tuple[Near, ...]]:
    """Return the rules that know a patch once it is compiled, and rejected changes that it is close to; compilers are asked."""
    if not rulebook.ruled(commit) or not rulebook.reaches_compilers(commit, patch):
        return (), ()
    meanings, versions = rulebook.meanings(commit), (Version(commit), Version(commit, patch))
    if meanings is None or not _reaches_any(meanings, versions):
        return (), ()
    said = by_words(rulebook, commit, patch, now)
    same, near = ((), ()) if said else by_meaning(rulebook, commit, patch, now, own_id=own_id)
    return (*said, *same), near


def _reaches_any(meanings: Meanings, versions: tuple[Version, Version]) -> bool:
    """Do two versions differ for a target? All are preprocessed, several at a time: that is asked of each later."""
    targets = meanings.targets()
    with ThreadPoolExecutor(max(len(targets), 1)) as pool:
        return any([*pool.map(lambda name: meanings.differ(*versions, name), targets)])


def by_words(rulebook: Rulebook, commit: str, patch: bytes, now: CurrentFacts) -> tuple[Match, ...]:
    """Return the rules without a patch that know `patch`, which fits `commit`, by what they say."""
    asking = _asking(rulebook, commit, now)
    meanings = rulebook.meanings(commit) if asking else None
    if meanings is None:
        return ()
    versions = (Version(commit), Version(commit, patch))
    looked = [(target, view) for target, view in _looked_at(meanings, asking) if meanings.differ(*versions, target)]
    meanings.compiled([Wanted(each, *where) for where in looked for each in versions])  # several at a time
    found = (_match(meanings, record, commit, patch, now) for record in asking)
    return tuple(match for match in found if match is not None)


def always_compiled(rulebook: Rulebook, commit: str, now: CurrentFacts) -> tuple[Wanted, ...]:
    """Return what is compiled to compare a change of `commit` with the rules in force, whatever change that is."""
    asking = _asking(rulebook, commit, now)
    meanings = rulebook.meanings(commit) if asking else None
    looked = _looked_at(meanings, asking) if meanings is not None else ()
    by_words_alone = (Wanted(Version(commit), target, view) for target, view in looked)
    return tuple(dict.fromkeys((*by_words_alone, *rejected_compiled(rulebook, commit, now))))


def _asking(rulebook: Rulebook, commit: str, now: CurrentFacts) -> list[Record]:
    return [
        record
        for record in rulebook.ruled(commit)
        if (rule := record.rule) is not None and not rule.patch_id and (rule.forbids or rule.settings or checked_words(rule))
        if not changed_conditions(record, now)
    ]


def _looked_at(meanings: Meanings, asking: Sequence[Record]) -> tuple[tuple[str, View], ...]:
    """Return the targets and views in which `_match` looks at a change for these rules."""
    looked: list[tuple[str, View]] = []
    for record in asking:
        judges = judging_targets(meanings.protocol, meanings.targets(), failing_target_of(record), record.target)
        rule = record.rule
        if rule is not None and (rule.forbids or checked_words(rule) is not None):
            looked += [(name, View.REGIONS) for name in judges[:1]]
        if rule is not None and (rule.forbids or rule.settings):
            looked += [(name, View.STATEMENTS) for name in judges]
    return tuple(dict.fromkeys(looked))


def _match(meanings: Meanings, record: Record, commit: str, patch: bytes, now: CurrentFacts) -> Match | None:
    rule = record.rule
    if rule is None:
        return None
    judges = judging_targets(meanings.protocol, meanings.targets(), failing_target_of(record), record.target)
    words = checked_words(rule)
    if words is not None:
        changes = _changes(meanings, commit, patch, judges[:1], View.REGIONS)
        if any(says(words, change) for change in changes):
            return Match(record=record, level=Level.INSTRUCTION, likeness=LIKENESS[Level.INSTRUCTION].format(words=words))
        if changes:
            return None
    changes = _changes(meanings, commit, patch, judges, View.STATEMENTS)
    lines = [line for change in changes for line in added_statements(change)]
    if rule.settings and tuples_alone(rule.settings, lines):
        listed = ", ".join(f"{name} = {value}" for name, value in rule.settings.items())
        return Match(record=record, level=Level.SETTINGS, likeness=LIKENESS[Level.SETTINGS].format(settings=listed) + AFTER)
    if not rule.forbids:
        return None
    lines += assembly_as_builtins(lines)
    lines += [
        line for change in _changes(meanings, commit, patch, judges[:1], View.REGIONS) for line in change.fault.split("\n")
    ]
    void = void_patterns(record, now)
    patterns = tuple(each for each in rule.forbids if each not in void and forbidden(each, lines))
    if not patterns:
        return None
    likeness = LIKENESS[Level.PATTERN].format(pattern=patterns[0]) + AFTER
    return Match(record=record, level=Level.PATTERN, likeness=likeness, patterns=patterns)


def _changes(meanings: Meanings, commit: str, patch: bytes, targets: Sequence[str], view: View) -> list[CompiledChange]:
    """Return the change as each target sees it, where the state before compiles; with statements, and with the fault if it
    doesn't compile.
    """
    found = []
    for target in targets:
        versions = (Version(commit), Version(commit, patch))
        if not meanings.differ(*versions, target):
            continue
        before, after = meanings.compiled([Wanted(each, target, view) for each in versions])
        if before is not None and after is not None and not before.fault:
            found.append(CompiledChange(before=before, after=after))
    return found


def stands_elsewhere(rulebook: Rulebook, commit: str, patch: bytes, now: CurrentFacts, match: Match) -> bool:
    """Does a forbidden pattern match, but what the rule says of a place isn't so? False where no compiler can tell. The answer
    is kept as that of `compiled_matches` is.
    """
    words = checked_words(match.record.rule) if match.record.rule is not None and match.level is Level.PATTERN else None
    if words is None or not words.region or rulebook.misfits(commit, patch):
        return False

    def ask() -> tuple[Told, ...]:
        return (Told(id=match.record.id),) if _stands_elsewhere(rulebook, commit, patch, match.record, words) else ()

    return bool(rulebook.told(commit, patch, now, ask, own_id=f"the place of {match.record.id}"))


def _stands_elsewhere(rulebook: Rulebook, commit: str, patch: bytes, record: Record, words: CheckedWords) -> bool:
    meanings = rulebook.meanings(commit)
    if meanings is None or not meanings.targets():
        return False
    judges = judging_targets(meanings.protocol, meanings.targets(), failing_target_of(record), record.target)[:1]
    changes = _changes(meanings, commit, patch, judges, View.REGIONS)
    return bool(changes) and not any(change.fault or says(words, change) for change in changes)
