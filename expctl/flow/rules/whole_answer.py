"""Say all that `rules check` tells of a patch, as plain data that can be kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from expctl.domain.errors import Refused
from expctl.domain.rules.conditions import conditions_of
from expctl.domain.rules.told import Answer
from expctl.domain.text import one_line, written_reason
from expctl.flow.rules.repeat_check import evidence, lapse_text, matching_rules, refusal

if TYPE_CHECKING:
    from expctl.domain.rules.matching import Match
    from expctl.ports.rules import Rulebook

FREE = "free: no do-not-repeat rule knows this change"
UNKNOWN = "unknown: it does not fit HEAD, so what it compiles to was not compared; no rule knows the lines that it adds"


def whole_answer(rulebook: Rulebook, commit: str, patch: bytes, precondition: str, where: str) -> Answer:
    """Return what the rules of `commit` say of `patch`, which is the file `where`, with what is new as `precondition`. Raises
    Refused if it is no patch.
    """
    misfits = rulebook.misfits(commit, patch)
    if misfits is None:
        raise Refused(
            "the file is no patch, so no rule can be compared with it",
            code="not-a-patch",
            expected="a unified diff of text: --- and +++ with a name, then hunks that change something",
            found=f"{len(patch)} bytes without one",
            where=where,
            hint="git diff > my.patch makes such a file",
        )
    found, near = matching_rules(rulebook, commit, patch)
    closed = [match for match, changed in found if not changed]
    refused = bool(closed) and not written_reason(precondition)
    matched = [
        {
            "rule": match.record.id,
            "level": match.level,
            "likeness": match.likeness,
            "reasons": match.record.reasons,
            "changed": changed,
        }
        for match, changed in found
    ]
    close = [{"rule": each.record.id, "percent": each.percent} for each in near]
    lines = [
        f"free: {match.record.id} matches ({match.level}), but is open again: {lapse_text(changed[0])}"
        for match, changed in found
        if changed
    ]
    lines += [f"free: {match.record.id} matches ({match.level}), let through for: {one_line(precondition)}" for match in closed]
    lines = lines or [UNKNOWN if misfits else FREE]
    lines += [f"note: close to {each.record.id} ({each.percent} %), {one_line(evidence(each.record), 160)}" for each in near]
    lines += [f"note: it does not fit {one_line(path)} as it is in HEAD; git apply --check says where" for path in misfits]
    said = vars(refusal(closed[0], "", *closed[1:])) if refused else {}
    return Answer(
        facts={"refused": refused, "matches": matched, "near": close, "misfits": misfits},
        lines=() if refused else tuple(lines),
        refusal=said,
        lasts=all(_lasts(match) for match, _ in found),
    )


def _lasts(match: Match) -> bool:
    """Does it take no more than the commit, the compilers and the facts of the machine to tell whether the rule holds?"""
    conditions = conditions_of(match.record, match.level)
    return not conditions.epoch and not conditions.probe
