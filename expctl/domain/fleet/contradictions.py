"""What a fleet has found out beside a verdict: changes that don't add up, and KEEPs that a second device rejects."""

from expctl.domain.experiment.proposal import Verdict
from expctl.domain.experiment.record import Record
from expctl.domain.fleet.events import Assigned


def said_of(record: Record, assigned: Assigned) -> tuple[str, tuple[str, ...]]:
    """Return the sentence that the record of an attempt gives rise to, and the experiments it is about; ("", ()) for none. Good
    alone and not on top of others names both sides; one that is there stays alone.
    """
    if assigned.confirms:
        again = record.replications[-1] if record.replications else None
        if again is None or again.verdict is not Verdict.REJECT:
            return "", ()
        text = (
            f"{record.id} is contradicted by a second machine: a KEEP on device {assigned.confirms}, "
            f"and on {assigned.device} ({assigned.kind}) of {assigned.worker} a REJECT: {again.reasons[0]}"
        )
        return text, (record.id,)
    if record.verdict in (Verdict.KEEP, Verdict.INVALID):
        return "", ()
    others = ", ".join(assigned.after)
    text = (
        f"{assigned.id} and {others} don't add up: alone, {assigned.id} was {assigned.alone}. "
        f"On top of {others} it ended as {record.verdict}: {record.reasons[0] if record.reasons else ''}"
    )
    return text, (assigned.id, *assigned.after)
