"""Compute the brief (what a proposer must know) of a commit. Takes no lock, so it works during a run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec.structs import replace

from expctl.domain.brief.compose import Brief, Known, brief_of
from expctl.domain.brief.rules import rules_now
from expctl.domain.brief.uncounted import Uncounted, config_line, files_of, loops_of, standing_lines, uncounted_lines
from expctl.domain.experiment.ids import next_number
from expctl.domain.experiment.proposal import Kind, Verdict
from expctl.domain.history.baselines import Baseline, baseline_of, standing_epochs
from expctl.domain.history.epochs import epochs_from
from expctl.domain.ledger.hot_loop_card import cards, keep_changes, newest_keeps
from expctl.domain.ledger.record_summary import RecordSummary, given_baselines, in_order, landings, seen_noise, standing
from expctl.domain.verdict.calibration import Calibration
from expctl.domain.verdict.side import Side
from expctl.flow.repository.conditions import conditions_at
from expctl.flow.repository.hot_loops import known_loops
from expctl.flow.repository.standing_records import standing_records
from expctl.flow.status import epochs_now

if TYPE_CHECKING:
    from expctl.domain.brief.about import About
    from expctl.domain.experiment.noise import Calibrated
    from expctl.domain.experiment.record import Record
    from expctl.domain.protocol.model import Protocol
    from expctl.ports.measuring import Calibrations
    from expctl.ports.repository import HotLoopStore, Library
    from expctl.ports.rules import Rulebook

PROPOSALS_MAX = 40  # proposals to read: more would not fit into the brief


def brief_here(
    library: Library,
    calibrations: Calibrations,
    rulebook: Rulebook,
    *,
    head: str,
    machine: Mapping[str, str],
    words_max: int,
    loops: HotLoopStore | None = None,
    about: About | None = None,
    absent: Mapping[str, str] = MappingProxyType({}),
) -> Brief:
    """Return what a proposer must know about the commit `head`, in at most `words_max` words. `machine` maps facts of the
    machine to texts, `loops` holds hot loops that were counted here, `absent` says what targets lack here. With `about`, only
    rules, findings and predictions that touch those files are told, and the hot loops there, if there are any. Only summaries
    of records are read, except for the last ones that timed each target, and KEEPs.
    """
    protocol = library.protocol(head)
    found = in_order(library.digests(head))
    conditions = conditions_at(library, head, protocol, machine, absent)
    known_epochs = epochs_from(each for summary in found for each in summary.measurings)
    kept = newest_keeps(found)
    records = standing_records(library, head, {*standing(found).values(), *kept})
    keeps = [records[name] for name in kept if name in records]
    baselines = _baselines(records, found)
    findings = library.findings(head)
    told = findings if about is None else tuple(each for each in findings if not each.stands or about.touches((), each.text))
    rules = rules_now(rulebook.holds(head), rulebook.circumstances(head))
    standing_in = standing_epochs(known_epochs, records, baselines)
    epochs = known_epochs.at(conditions, standing_in)
    waiting = _in_turn(library, head, library.waiting(head))
    counted = known_loops(library, head, protocol, loops)
    uncounted = tuple(_uncounted(library, head, protocol, {each.target for each in counted}, found))
    loop_cards = cards(protocol, counted, baselines, library.rivals(head), given_baselines(found), keeps, absent)
    at = {each.target: each.files for each in loop_cards} | {each.target: each.files for each in uncounted}
    near = {name for name, files in at.items() if about is None or about.touches(files)} or set(at)
    known = Known(
        protocol=protocol,
        head=head,
        digests=found,
        epochs=epochs,
        baselines=baselines,
        calibrated={name: noise for name in protocol.decides if (noise := _calibrated(calibrations, protocol, name))},
        seen={name: shown for name in protocol.decides if (shown := seen_noise(name, found, epochs))},
        begins={each.target: each.begins for each in epochs_now(epochs, conditions) if not each.since},
        findings=told,
        proposals=library.some_proposals(head, waiting[:PROPOSALS_MAX]),
        queued=len(waiting),
        rules=rules if about is None else replace(rules, elsewhere=_elsewhere(rulebook.ruled(head), about)),
        next_id=f"P{next_number(library.experiments(head))}",
        absent=absent,
        cards=tuple(sorted((each for each in loop_cards if each.target in near), key=lambda each: each.target in absent)),
        changes=keep_changes([each for each in keeps if each.target in _beside(protocol, near)]),
        uncounted={each.target: each.lines for each in uncounted if each.target in near},
        about=about.path if about is not None else "",
        left_out=len(findings) - len(told),
        untouched=frozenset() if about is None else frozenset(each.id for each in found if not _is_touched(each, about)),
    )
    return brief_of(known, words_max=words_max)


def _beside(protocol: Protocol, names: Collection[str]) -> frozenset[str]:
    """Return the targets that `names` stand for or are, and those with the same build."""
    homes = {protocol.targets[name].stands_for or name for name in names}
    builds = [protocol.targets[name].build for name in homes]
    return frozenset(name for name, target in protocol.targets.items() if name in homes or target.build in builds)


def _in_turn(library: Library, head: str, waiting: Sequence[str]) -> tuple[str, ...]:
    """Return the ids `waiting` by priority, without withdrawn and BLOCKED proposals; their dependencies aren't checked."""
    tickets = {name: filing.ticket for name, filing in library.filings(head, waiting).items()}
    kept = [(name, ticket) for name, ticket in tickets.items() if ticket is None or not (ticket.withdrawn or ticket.blocked)]
    return tuple(name for name, _ in sorted(kept, key=lambda each: -each[1].priority if each[1] else 0))


def _uncounted(
    library: Library, head: str, protocol: Protocol, counted: Collection[str], found: Sequence[RecordSummary]
) -> Iterator[Uncounted]:
    """Yield for each target whose hot loop was never counted which lines its KEEPs wrote, and what the last profile showed."""
    for name, target in protocol.targets.items():
        if target.hot_loop is None or name in counted:
            continue
        kept = [each.id for each in found if each.verdict is Verdict.KEEP and each.target == name and not each.imported]
        patches = library.patches(head, kept)
        profiles = library.profiles(head, kept)
        last = next((each for each in reversed(kept) if profiles.get(each, {}).get(Side.CANDIDATE)), "")
        texts = library.texts(head, files_of(patches.values()))
        worked = standing_lines(patches, texts)
        loops = loops_of(texts[worked[0].file]) if worked else ()
        lines = (
            *_configs(library, head, protocol, name, found),
            *uncounted_lines(name, worked, loops, last, profiles[last][Side.CANDIDATE] if last else ()),
        )
        yield Uncounted(target=name, files=tuple(each.file for each in worked), lines=lines)


def _configs(library: Library, head: str, protocol: Protocol, target: str, found: Sequence[RecordSummary]) -> Iterator[str]:
    """Yield which config each size of `target` was timed with when a KEEP was last timed there, and what was tuned since."""
    kept = [each for each in found if each.verdict is Verdict.KEEP and not each.imported]
    last = next((each for each in reversed(kept) if each.target == target and each.kind is not Kind.CONFIG), None)
    if last is None:
        return
    beside = _beside(protocol, (target,))
    later = [each.id for each in kept if each.kind is Kind.CONFIG and each.target in beside and each.position > last.position]
    records = ((name, library.record(head, name)) for name in later)
    tuned = {name: record.buckets for name, record in records if record is not None}
    if line := config_line(target, last.id, last.notes, tuned):
        yield line


def _is_touched(found: RecordSummary, about: About) -> bool:
    said = found.told.sentence.partition("Hypothesis: ")[2] if found.told else ""  # before it stands the target's name
    return about.touches((), found.title, said)


def _elsewhere(ruled: Sequence[Record], about: About) -> frozenset[str]:
    """Return the ids of records whose rule doesn't touch the files that the brief is about."""
    found = set()
    for record in ruled:
        rule = record.rule
        if rule is not None:
            said = (record.title, rule.text, *record.reasons, *(f"{name} {value}" for name, value in rule.conditions.items()))
            if not about.touches((*rule.region, *rule.shapes), *said):
                found.add(record.id)
    return frozenset(found)


def _baselines(records: Mapping[str, Record], summaries: Sequence[RecordSummary]) -> tuple[Baseline, ...]:
    shown, landed = standing(summaries), landings(summaries)
    return tuple(baseline_of(target, records[name], landed) for target, name in sorted(shown.items()))


def _calibrated(calibrations: Calibrations, protocol: Protocol, target: str) -> Calibrated | None:
    benchmark = protocol.targets[target].benchmark
    found = calibrations.read(target, benchmark) if benchmark else None
    return found.fixed() if isinstance(found, Calibration) else None
