"""What waits: proposals without a verdict about the idea."""

from collections.abc import Iterable

from expctl.domain.experiment import Proposal, Verdict, id_order
from expctl.domain.record import Record


def waiting(proposals: Iterable[Proposal], records: Iterable[Record]) -> tuple[Proposal, ...]:
    """Proposals that are still to be run, in order of id. An INVALID says nothing about the idea, so it waits again."""
    concluded = {record.id for record in records if record.verdict is not Verdict.INVALID}
    return tuple(sorted((each for each in proposals if each.id not in concluded), key=lambda each: id_order(each.id)))
