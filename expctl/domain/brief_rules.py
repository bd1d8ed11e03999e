"""Do-not-repeat rules and open questions as sentences of the brief."""

from collections.abc import Iterable, Sequence

from expctl.domain.digest import Digest
from expctl.domain.experiment import Verdict, id_order
from expctl.domain.ledger_rows import RuleRow
from expctl.domain.record import Finding
from expctl.domain.text import one_line
from expctl.domain.word_cap import ITEMS_MAX, Section

TEXT_MAX, CONDITIONS_MAX = 200, 160

WAY_OUT = (
    "The way out of a rule is a new precondition: a condition below that has changed (compiler, architecture, the baseline's"
    " code in the touched region), or a reason written under `precondition:` in experiment.yaml, which the ledger keeps."
)
WHO_REFUSES = "'by you': no patch was kept, so that expctl can't refuse it; whoever proposes must."


def rule_section(digests: Iterable[Digest]) -> Section:
    """Rules that hold. First those that only the reader can keep, then the newest."""
    held = [each.rule for each in digests if each.rule is not None and not _open_again(each.rule)]
    order = sorted(sorted(held, key=lambda rule: id_order(rule.id), reverse=True), key=lambda rule: bool(rule.known_by))
    return Section(
        key="rules",
        title=f"Do not repeat ({len(held)} {'rule holds' if len(held) == 1 else 'rules hold'})",
        intro=(WAY_OUT, WHO_REFUSES) if held else ("No rule holds.",),
        items=tuple(_rule(rule) for rule in order[:ITEMS_MAX]),
        share=0.3,
        more="ledger.md, Do not repeat",
        left_out=max(0, len(order) - ITEMS_MAX),
    )


def open_questions(digests: Sequence[Digest], findings: Sequence[Finding]) -> Section:
    """What is undecided: reopened rules, contradictions, debts at home, INCONCLUSIVE runs, the newest first."""
    newest = digests[::-1]
    reopened = [each.rule for each in newest if each.rule is not None and _open_again(each.rule)]
    disputed = [each for each in findings if each.contradicted_by and not each.superseded_by]
    debts = [each for each in newest if each.debt]
    undecided = [each for each in newest if each.verdict is Verdict.INCONCLUSIVE]
    number = len(reopened) + len(disputed) + len(debts) + len(undecided)
    items = (
        *(f"{each.id} may be tried again ({_cut(_open_again(each))}): {_cut(each.text)}" for each in reopened[:ITEMS_MAX]),
        *(f"{each.id} is contradicted by {each.contradicted_by}: {_cut(each.text)}" for each in disputed[:ITEMS_MAX]),
        *(f"{each.id} is {_cut(each.debt)}" for each in debts[:ITEMS_MAX]),
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


def _open_again(rule: RuleRow) -> str:
    """What opened the rule, by the records alone; empty while it holds."""
    return rule.reopened_by or "; ".join(f"{each.condition}: {each.was} -> {each.now}" for each in rule.lapses)


def _cut(text: str) -> str:
    return one_line(text, TEXT_MAX)


def _rule(rule: RuleRow) -> str:
    under = one_line(", ".join(f"{name} {value}" for name, value in rule.conditions), CONDITIONS_MAX)
    failed = f" (failed under {under})" if under else ""
    return f"{rule.id}, refused by {'expctl' if rule.known_by else 'you'}: {_cut(rule.text)}{failed}"
