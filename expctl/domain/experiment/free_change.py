"""Free changes: simplifications whose machine code is the baseline's. They are merged into the branch without being timed.

Whether a change is free depends on the proposal's kind, not on its mode, which only says how timings are judged.
"""

from collections.abc import Iterable

from expctl.domain.experiment.proposal import Kind, Verdict
from expctl.domain.experiment.record import Record, Replication

FREE_KINDS = frozenset((Kind.SIMPLIFY, Kind.INFRA))
SAME_CODE = "same machine code; nothing to time"
UNCOMPARED = "not compared"


def is_free_keep(record: Record, entry: Record | Replication) -> bool:
    """Return whether `entry` (the record itself, or one of its replications) is a KEEP for which nothing had to be timed. For
    the record itself, its artifacts must agree with that: the same code on every target built, and passed tests.
    """
    if entry.verdict is not Verdict.KEEP or record.kind not in FREE_KINDS or entry.estimates:
        return False
    if entry.reasons[:1] != (SAME_CODE,):
        return False
    if isinstance(entry, Replication):
        return True
    codes = [{target: (made.code, made.image) for target, made in side.items()} for side in record.artifacts.values()]
    same = len(codes) == 2 and record.target in codes[0] and codes[0] == codes[1]
    return same and record.test is not None and record.test.ok and all(test.ok for test in record.guard_tests.values())


def debt(id: str, target: str) -> str:
    """Return the remark that the simplification `id` was kept untimed without comparing its code on `target`. That happens if
    `target` couldn't be built.
    """
    return f"{UNCOMPARED} on {target}, which could not be built; expctl run {id} --again compares it where it can be"


def settled(flags: Iterable[str], targets: Iterable[str]) -> tuple[str, ...]:
    """Return `flags` without the remarks that `debt` made for `targets`, because the code has since been compared on these."""
    paid = tuple(f"{UNCOMPARED} on {target}," for target in targets)
    return tuple(flag for flag in flags if not flag.startswith(paid))
