"""Do-not-repeat rules and open questions as sentences of the brief."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from expctl.domain.experiment import Verdict, id_order
from expctl.domain.sentences import TEXT_MAX
from expctl.domain.text import one_line
from expctl.domain.word_cap import ITEMS_MAX, Section

if TYPE_CHECKING:
    from expctl.domain.digest import Digest
    from expctl.domain.record import Finding

WAY_OUT = (
    "The way out of a rule is a new precondition: a condition below that has changed (compiler, architecture, the baseline's"
    " code in the touched region), or a reason written under `precondition:` in experiment.yaml, which the ledger keeps."
)
WHO_REFUSES = "'by you': no patch was kept, so that expctl can't refuse it; whoever proposes must."


def rule_section(digests: Iterable[Digest]) -> Section:
    """Rules that hold. First those that only the reader can keep, then the newest."""
    held = [each.ban for each in digests if each.ban is not None and not each.ban.opened]
    order = sorted(sorted(held, key=lambda ban: id_order(ban.id), reverse=True), key=lambda ban: ban.known)
    return Section(
        key="rules",
        title=f"Do not repeat ({len(held)} {'rule holds' if len(held) == 1 else 'rules hold'})",
        intro=(WAY_OUT, WHO_REFUSES) if held else ("No rule holds.",),
        items=tuple(ban.sentence for ban in order[:ITEMS_MAX]),
        share=0.3,
        more="ledger.md, Do not repeat",
        left_out=max(0, len(order) - ITEMS_MAX),
    )


def open_questions(digests: Sequence[Digest], findings: Sequence[Finding]) -> Section:
    """What is undecided: reopened rules, contradictions, debts at home, INCONCLUSIVE runs, the newest first."""
    newest = digests[::-1]
    reopened = [each.ban for each in newest if each.ban is not None and each.ban.opened]
    disputed = [each for each in findings if each.contradicted_by and not each.superseded_by]
    debts = [each for each in newest if each.debts]
    undecided = [each for each in newest if each.verdict is Verdict.INCONCLUSIVE]
    number = len(reopened) + len(disputed) + len(debts) + len(undecided)
    items = (
        *(f"{each.id} may be tried again ({_cut(each.opened)}): {_cut(each.text)}" for each in reopened[:ITEMS_MAX]),
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
