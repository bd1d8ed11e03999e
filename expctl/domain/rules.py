"""Do-not-repeat: what a REJECT forbids, and when it may be tried again."""

from collections.abc import Iterable, Mapping

from expctl.domain.experiment import Proposal, Verdict
from expctl.domain.record import Record, Rule


def rule_of(
    proposal: Proposal, verdict: Verdict, reason: str, *, patch_id: str, code: str, conditions: Mapping[str, str]
) -> Rule | None:
    """The rule that a REJECT leaves; None for every other verdict."""
    if verdict is not Verdict.REJECT:
        return None
    return Rule(text=f"{proposal.title}: {reason}", patch_id=patch_id, code=code, conditions=conditions)


def forbidding(records: Iterable[Record], *, patch_id: str, own_id: str) -> Record | None:
    """The rejected experiment whose rule forbids this patch: the same change, whatever its line numbers."""
    return next(
        (
            record
            for record in records
            if record.rule is not None and record.rule.patch_id == patch_id and patch_id and record.id != own_id
        ),
        None,
    )
