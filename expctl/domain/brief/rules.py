"""The sections of the brief about do-not-repeat rules and open questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from expctl.domain.brief.word_limit import ITEMS_MAX, Section
from expctl.domain.experiment.ids import id_order
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.ledger.remarks import waived
from expctl.domain.ledger.sentences import TEXT_MAX
from expctl.domain.text import one_line

if TYPE_CHECKING:
    from expctl.domain.experiment.finding import Finding
    from expctl.domain.ledger.record_summary import RecordSummary, RuleSummary
    from expctl.domain.rules.current_facts import CurrentFacts
    from expctl.domain.rules.match_levels import WaivedRepeat
    from expctl.domain.rules.open_conditions import RuleConditions

IMPORTED_MAX = 10
WAY_OUT = (
    "The way out of a rule is a new precondition: a condition below that has changed (compiler, architecture, the baseline's"
    " code in the touched region), or a reason written under `precondition:` in experiment.yaml, which the ledger keeps."
)
WHO_REFUSES = "'by you': no patch was kept, so that expctl can't refuse it; whoever proposes must."
LOOKED = "A rule holds when nothing that it hangs on has changed, as of this commit and machine; `expctl rules` says more."


class RulesNow(Struct, frozen=True, kw_only=True):
    """Which do-not-repeat rules no longer hold on this machine and commit. `opened` maps the id of such a rule to the condition
    that changed. `untried` are the ids of rules that still hold and have a probe (a code snippet) that has not been run here.
    `gone` are those of `opened` whose subject is gone: no file that their patch touched is left. `elsewhere` are the ids of
    rules that don't touch what the brief was asked for.
    """

    opened: Mapping[str, str]
    untried: tuple[str, ...] = ()
    gone: frozenset[str] = frozenset()
    elsewhere: frozenset[str] = frozenset()


def rules_now(rules: Mapping[str, RuleConditions], now: CurrentFacts) -> RulesNow:
    """Find out which of `rules` (id -> conditions) no longer hold under the facts `now`, from the first condition that changed.
    Probes are asked last, because they take longest.
    """
    opened, untried, subjectless = {}, [], set()
    for name, conditions in rules.items():
        change = next(conditions.changed(now), None)
        probe = conditions.as_probe() if change is None else None
        if change is not None:
            opened[name] = f"{change.condition}: {change.was} -> {change.now}"
            if conditions.region and not any(now.item_keys(path) for path, _ in conditions.region):
                subjectless.add(name)
        elif probe is not None and not now.probe(probe).tried:
            untried.append(name)
    return RulesNow(opened=opened, untried=tuple(untried), gone=frozenset(subjectless))


def rule_section(digests: Sequence[RecordSummary], now: RulesNow) -> Section:
    """Return the brief's section about the rules that hold: those whose repeats expctl can't recognise, then the newest.

    Of an imported ledger no more than IMPORTED_MAX are listed; rules that don't touch what was asked for are only counted.
    """
    every = [each.ban for each in digests if each.ban is not None and each.id not in now.opened]
    held = [ban for ban in every if ban.id not in now.elsewhere]
    by_hand = {each.id for each in digests if each.imported}
    order = sorted(sorted(held, key=lambda ban: id_order(ban.id), reverse=True), key=lambda ban: ban.known)
    imported = [ban for ban in order if ban.id in by_hand][:IMPORTED_MAX]
    shown = [ban for ban in order if ban.id not in by_hand or ban in imported][:ITEMS_MAX]
    elsewhere = f"{len(every) - len(held)} more hold about other code: `expctl rules` lists them."
    passes = waived(digests)
    number = sum(ban.id in passes for ban in held)
    let = f", {number} of them waived once" if number else ""
    unlooked = f"Not looked at here: the probes of {', '.join(now.untried)}; `expctl rules` tries them."
    return Section(
        key="rules",
        title=f"Do not repeat ({len(held)} {'rule holds' if len(held) == 1 else 'rules hold'}{let})",
        intro=(
            *((WAY_OUT, WHO_REFUSES, LOOKED, *([unlooked] if now.untried else [])) if held else ("No rule holds.",)),
            *([elsewhere] if len(every) > len(held) else []),
        ),
        items=tuple(_rule_line(ban, passes.get(ban.id, ())) for ban in shown),
        share=0.3,
        more="expctl rules",
        left_out=len(order) - len(shown),
    )


def _rule_line(ban: RuleSummary, passes: Sequence[WaivedRepeat]) -> str:
    last = f"; waived for {passes[-1].id} ({passes[-1].verdict}): {_cut(passes[-1].reason)}" if passes else ""
    maybe = f"; open again on: {_cut(ban.opened)}" if ban.waits and ban.opened and not ban.lapsed else ""
    return f"{ban.sentence}{maybe}{last}"


def open_questions(digests: Sequence[RecordSummary], findings: Sequence[Finding], now: RulesNow) -> Section:
    """Return the brief's section of open questions: what may be tried again, is undecided or unmeasured; newest first."""
    newest = digests[::-1]
    lapsed = [each.ban for each in newest if each.ban is not None and each.id in now.opened and each.id not in now.elsewhere]
    reopened = [ban for ban in lapsed if ban.id not in now.gone]
    subjectless = [ban for ban in lapsed if ban.id in now.gone]
    disputed = [each for each in findings if each.contradicted_by and not each.superseded_by]
    debts = [each for each in newest if each.debts]
    undecided = [each for each in newest if each.verdict is Verdict.INCONCLUSIVE]
    number = len(lapsed) + len(disputed) + len(debts) + len(undecided)
    items = (
        *(f"{each.id} may be tried again ({_cut(now.opened[each.id])}): {_cut(each.text)}" for each in reopened[:ITEMS_MAX]),
        *(
            f"{each.id} is without subject: the code that it was about is gone: {_cut(each.text)}"
            for each in subjectless[:ITEMS_MAX]
        ),
        *(f"{each.id} is contradicted by {each.contradicted_by}: {_cut(each.text)}" for each in disputed[:ITEMS_MAX]),
        *(f"{each.id} is {_cut(each.debts[0])}" for each in debts[:ITEMS_MAX]),
        *(
            f"{each.id} is INCONCLUSIVE on {each.target}: {_cut(each.title)}: {_cut(each.reason)}"
            for each in undecided[:ITEMS_MAX]
        ),
    )
    return Section(
        key="open",
        title="Open questions",
        intro=() if items else ("None.",),
        items=items,
        share=0.15,
        left_out=number - len(items),
    )


def _cut(text: str) -> str:
    return one_line(text, TEXT_MAX)
