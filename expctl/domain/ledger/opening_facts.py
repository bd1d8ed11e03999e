"""What a newcomer must know before anything else, as sentences that hold for these very records."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from expctl.domain.experiment.figures import throughput_text, time_text
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.queue.ordering import State

if TYPE_CHECKING:
    from expctl.domain.history.baselines import Baseline, ImportedBaseline
    from expctl.domain.history.comparability import Change
    from expctl.domain.history.epochs import Epochs
    from expctl.domain.ledger.remarks import Debt, Remark
    from expctl.domain.ledger.rows import QueueItem
    from expctl.domain.ledger.totals import BanState, Count
    from expctl.domain.protocol.model import Protocol

NAMED_MAX = 12
COMING = (State.READY, State.WAITING)


class Counts(Struct, frozen=True, kw_only=True):
    """How many experiments there are, by origin and by verdict (only verdicts that occur)."""

    measured: int
    imported: int
    measured_verdicts: tuple[tuple[Verdict, int], ...]
    imported_verdicts: tuple[tuple[Verdict, int], ...]


def counts_of(found: Sequence[Count]) -> Counts:
    """Added up."""
    measured, imported = ([each for each in found if each.imported is kind] for kind in (False, True))
    return Counts(
        measured=sum(each.number for each in measured),
        imported=sum(each.number for each in imported),
        measured_verdicts=_by_verdict(measured),
        imported_verdicts=_by_verdict(imported),
    )


def opening_facts(
    protocol: Protocol, found: Sequence[Count], standing: Sequence[Baseline], given: Sequence[ImportedBaseline]
) -> Iterator[str]:
    """The goal, who decides, what was done, what stands."""
    yield f"Goal: {(protocol.goal or protocol.name).rstrip('.')}."
    first, *others = protocol.decides
    then = f", else {', else '.join(others)}" if others else ""
    yield f"Who decides: {first} when it is available{then}. Other targets are guards: a candidate must build there."
    number = counts_of(found)
    old = _tally(number.imported, number.imported_verdicts)
    imported = f" Imported from a ledger kept by hand: {old}." if number.imported else ""
    yield f"Measured by expctl: {_tally(number.measured, number.measured_verdicts)}{_decided_on(found)}.{imported}"
    if number.measured and not any(each.target == first and not each.imported for each in found):
        yield (
            f"expctl has decided nothing on {first} yet. What was kept on another target is a gain there; of {first} it says no"
            " more than that its guards passed."
        )
    for baseline in standing:
        since = f"since {baseline.since}" if baseline.since else "as expctl found it"
        figures = "; ".join(_figure(baseline, index) for index in range(len(baseline.figures)))
        yield f"Baseline on {baseline.target} ({since}): {figures}."
    known = {baseline.target for baseline in standing} | {words.target for words in given}
    for target in protocol.decides:
        if target not in known:
            yield f"Baseline on {target}: expctl has timed nothing there yet; its first run will."
    for words in given:
        yield f"Baseline on {words.target}: only imported figures, those of {words.id} ({words.title}); see the table."


def epoch_facts(standing: Sequence[Baseline], epochs: Epochs, pending: Mapping[str, Sequence[Change]]) -> Iterator[str]:
    """The epoch that is under way on each target, and what will end it."""
    for baseline in standing:
        last, since = epochs.last.get(baseline.target), epochs.of.get(baseline.shown_by)
        if last is None:
            continue
        old = since is not None and since.target == last.target and since.number != last.number
        stale = f"; the baseline's figures are of epoch {since.number}" if old and since is not None else ""
        began = f"{last.first.id} ({last.first.date[:10]}; ids are in no order of time)"
        yield f"Epoch on {baseline.target}: {last.number}, since {began}{stale}."
    for target, changes in pending.items():
        why = "; ".join(str(change) for change in changes)
        yield (
            f"The next run on {target} begins a new epoch, for protocol.yaml was changed ({why}): its figures must not be"
            " compared with any above."
        )


def reading_facts(fixes: Sequence[Remark], once: Sequence[str], imported: int) -> Iterator[str]:
    """How to read the figures and the verdicts. An older rule decided `once`; so many rows are imported."""
    yield (
        "How a verdict is made: baseline and candidate are built from their commits and timed side by side in rounds; a search"
        " stops at the first planned look that decides, and a KEEP must hold again in a new session, whose estimate is the one"
        " shown. A proposer never decides and never reports a number."
    )
    if once:
        yield f"An older rule decided {_names(once)}: ten rounds, 95 % intervals, no second session."
    yield (
        "Verdicts: INCONCLUSIVE means undecided, nothing landed; NO-OP means the same machine code, nothing was timed;"
        " INVALID means that machine or harness failed and says nothing about the idea. An analysis never lands code"
        + ("; an imported one is from before that rule." if imported else ".")
    )
    yield (
        "Kinds of numbers: wall_time and device_time are speed; exact_count (emulator, counters) and static (compiler) are"
        " never speed. A figure is comparable only on its own target in its own epoch: never subtract across."
    )
    if imported:
        touched = len({name for fix in fixes for name in fix.ids})
        flawed = f" {touched} of {imported} rest on evidence known to be flawed: see Corrections." if touched else ""
        yield (
            "Imported figures were given by hand, in another epoch, without samples or intervals: not comparable to any"
            f" measured figure.{flawed}"
        )


def working_facts(
    rules: Sequence[BanState], owed: Sequence[Debt], queued: Sequence[QueueItem], ending: Collection[str] = ()
) -> Iterator[str]:
    """What must not be tried, what is owed, what is next; the epoch of the targets `ending` ends with their next run."""
    if rules:
        reopened = [rule.id for rule in rules if rule.lapsed]
        waiting = [rule.id for rule in rules if rule.waits and not rule.lapsed]
        again = (
            f"; {_names(reopened)} may run again: a condition has changed, see the table for which and on what evidence"
            if reopened
            else ""
        )
        again += f"; {_names(waiting)} may run again once the condition named there holds" if waiting else ""
        ends = [rule.id for rule in rules if rule.in_epoch and rule.target in ending and not rule.lapsed]
        again += f"; {_names(ends)} {'opens' if len(ends) == 1 else 'open'} with the next epoch, see above" if ends else ""
        noun = "rule" if len(rules) == 1 else "rules"
        closed = [rule for rule in rules if not rule.lapsed and rule.id not in ends]
        known, unknown = [rule.id for rule in closed if rule.known], [rule.id for rule in closed if not rule.known]
        some = f"a repeat of {_names(known)}" if known else "none of the others by itself"
        whom = "a repeat" if len(known) == len(rules) else some
        refused = f"'expctl run' refuses {whom}" + (
            ", also a disguised one, unless its proposal names a new precondition" if known else ""
        )
        readers = f"; no patch of {_names(unknown)} is known, so whoever proposes or reviews must refuse it" if unknown else ""
        held = f" {refused}{readers}." if closed else ""
        yield f"Do not repeat: {len(rules)} {noun}{again}.{held} 'expctl rules' says which are open today."
    if owed:
        yield f"Unmeasured at home: {_names([debt.id for debt in owed])} landed on the word of another target."
    coming = [item.id for item in queued if item.state in COMING]
    if coming:
        which = "the first" if len(coming) > 1 else "it"
        yield f"Next: {_names(coming)}; 'expctl run {coming[0]}' starts {which}."
    else:
        yield f"Next: the queue {'holds nothing that can run' if queued else 'is empty'}; 'expctl new ID' adds a proposal."
    stuck = [f"{item.id} ({item.state})" for item in queued if item.state not in COMING]
    if stuck:
        yield f"Without a verdict, and not next: {_names(stuck)}."


def _by_verdict(found: Sequence[Count]) -> tuple[tuple[Verdict, int], ...]:
    sums = [(verdict, sum(each.number for each in found if each.verdict is verdict)) for verdict in Verdict]
    return tuple((verdict, number) for verdict, number in sums if number)


def _tally(number: int, verdicts: Sequence[tuple[Verdict, int]]) -> str:
    if not number:
        return "no experiment yet"
    noun = "experiment" if number == 1 else "experiments"
    return f"{number} {noun} ({', '.join(f'{count} {verdict}' for verdict, count in verdicts)})"


def _decided_on(found: Sequence[Count]) -> str:
    measured = [each for each in found if not each.imported]
    sums = {name: sum(each.number for each in measured if each.target == name) for name in sorted({e.target for e in measured})}
    return f", decided on {', '.join(f'{target} ({number})' for target, number in sums.items())}" if sums else ""


def _figure(baseline: Baseline, index: int) -> str:
    figure = baseline.figures[index]
    speed = throughput_text(figure.flop, figure.ns)
    return f"{figure.size} {time_text(figure.ns)}{f' = {speed}' if speed else ''}"


def _names(names: Sequence[str]) -> str:
    unique = tuple(dict.fromkeys(names))
    rest = f" and {len(unique) - NAMED_MAX} more" if len(unique) > NAMED_MAX else ""
    return ", ".join(unique[:NAMED_MAX]) + rest
