"""Composes the brief: what a proposer of experiments must know, in a limited number of words. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from expctl.domain.brief.hot_loop import hot_loop_section
from expctl.domain.brief.proposing import proposing_section
from expctl.domain.brief.protocol import protocol_section
from expctl.domain.brief.rules import RulesNow, open_questions, rule_section
from expctl.domain.brief.sentences import baseline_section, finding_section, next_section, noise_section, prediction_section
from expctl.domain.brief.word_limit import Section, within
from expctl.domain.experiment.predictions import Accuracy, accuracy_of
from expctl.domain.experiment.proposal import Proposal, Verdict
from expctl.domain.ledger.record_summary import RecordSummary, SeenNoise, given_baselines

if TYPE_CHECKING:
    from expctl.domain.experiment.finding import Finding
    from expctl.domain.experiment.noise import Calibrated
    from expctl.domain.history.baselines import Baseline, ImportedBaseline
    from expctl.domain.history.epochs import Epochs
    from expctl.domain.ledger.hot_loop_card import HotLoopCard
    from expctl.domain.protocol.model import Protocol

WORDS_MAX = 4000
OF_TITLE = 60  # words that a view may put before the sections


class Known(Struct, frozen=True, kw_only=True):
    """The data of the brief: one commit (`head`), its queue, and the do-not-repeat rules and noise on this machine.

    `calibrated`, `seen` (noise found in records) and `begins` (what will make new figures incomparable to old ones) have an
    entry per target, `absent` what each lacks here. `digests` are summaries of all records in branch order. `proposals` are the
    first of the queue, `queued` is how many it has in all. `cards` are what is known of hot loops, `changes` what each KEEP
    changed there, `uncounted` what is known, by target, of loops that weren't counted. `about` is the path that the brief was
    asked for ("": everything), `left_out` the number of findings that don't touch it, `untouched` the experiments that don't.
    """

    protocol: Protocol
    head: str
    digests: tuple[RecordSummary, ...]
    epochs: Epochs
    baselines: tuple[Baseline, ...]
    calibrated: Mapping[str, Calibrated]
    seen: Mapping[str, SeenNoise]
    begins: Mapping[str, Sequence[str]]
    absent: Mapping[str, str]
    findings: tuple[Finding, ...]
    proposals: tuple[Proposal, ...]
    queued: int
    rules: RulesNow
    next_id: str = "P<N>"
    cards: tuple[HotLoopCard, ...] = ()
    changes: tuple[str, ...] = ()
    uncounted: Mapping[str, tuple[str, ...]] = {}
    about: str = ""
    left_out: int = 0
    untouched: frozenset[str] = frozenset()


class Brief(Struct, frozen=True, kw_only=True):
    """What a proposer must know before the next experiment: as text in `sections`, and in the other fields as data for --json.
    `open_again` maps the id of each do-not-repeat rule that no longer holds to the condition that changed. `about` is the path
    that it was asked for, "" for everything.
    """

    name: str
    head: str
    verdicts: Mapping[str, int]
    imported: int
    baselines: tuple[Baseline, ...]
    imported_baselines: tuple[ImportedBaseline, ...]
    accuracy: Accuracy
    open_again: Mapping[str, str]
    sections: tuple[Section, ...]
    next_id: str = ""
    about: str = ""
    hot_loops: tuple[HotLoopCard, ...] = ()


def brief_of(known: Known, *, words_max: int = WORDS_MAX) -> Brief:
    """Compose the brief in at most `words_max` words, including the title."""
    protocol, digests = known.protocol, known.digests
    accuracy = accuracy_of(each.told for each in digests if each.told)
    given = given_baselines(digests)
    found = Counter(each.verdict for each in digests if not each.imported)
    sections = (
        protocol_section(protocol, known.absent),
        proposing_section(protocol, known.next_id),
        hot_loop_section(known.cards, known.changes, known.uncounted),
        baseline_section(protocol, known.baselines, given, known.epochs, known.begins),
        noise_section(protocol, known.calibrated, known.seen),
        finding_section(known.findings, known.left_out),
        rule_section(digests, known.rules),
        open_questions(digests, known.findings, known.rules),
        next_section(known.proposals, known.queued),
        prediction_section(digests, accuracy, known.untouched),
    )
    return Brief(
        name=protocol.name,
        head=known.head,
        verdicts={verdict: found[verdict] for verdict in Verdict if found[verdict]},
        imported=sum(each.imported for each in digests),
        baselines=known.baselines,
        imported_baselines=given,
        accuracy=accuracy,
        open_again=known.rules.opened,
        next_id=known.next_id,
        about=known.about,
        hot_loops=known.cards,
        sections=within(sections, words_max - OF_TITLE),
    )
