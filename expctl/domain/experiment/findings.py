"""Checks findings (lessons in findings.yaml): their ids, their evidence, and duplicates. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from expctl.domain.errors import Refused
from expctl.domain.experiment.ids import ID_PATTERN
from expctl.domain.text import one_line

if TYPE_CHECKING:
    from expctl.domain.experiment.finding import Finding

FINDING_ID = re.compile(r"F[1-9]\d*", re.ASCII)
COMMIT = re.compile(r"[0-9a-f]{7,40}", re.ASCII)
ADDRESS = re.compile(r"https?://[^\s/]+\.[^\s/]+(/\S*)?")
TEXT_MAX = 1200


def numbered(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the findings, giving each one without an id the next free id (F1, F2, ...), in file order."""
    taken = {each.id for each in findings}
    free = (f"F{number}" for number in range(1, 2 * len(findings) + 1) if f"F{number}" not in taken)
    return tuple(each if each.id else replace(each, id=next(free)) for each in findings)


def next_id(findings: Sequence[Finding]) -> str:
    """Return the id for a new finding: F and one more than the largest number so far."""
    return f"F{1 + max((int(each.id[1:]) for each in numbered(findings)), default=0)}"


def by_id(findings: Sequence[Finding], wanted: str) -> Finding:
    """Return the finding with the id `wanted`. Raises Refused where there is none."""
    for each in numbered(findings):
        if each.id == wanted:
            return each
    known = [each.id for each in numbered(findings)]
    raise Refused(
        f"there is no finding {one_line(wanted, 40)}",
        code="finding-unknown",
        expected=f"one of {known[0]} to {known[-1]}" if known else "a finding that was added before",
        found=one_line(wanted, 40),
        hint="expctl finding list",
    )


def alike(findings: Iterable[Finding], text: str) -> Finding | None:
    """Return the first finding that says `text`, whatever its case, white space and final full stop; None if there is none."""
    return next((each for each in findings if _bare(each.text) == _bare(text)), None)


def audit_opening(target: str, epoch: int) -> str:
    """Return the words with which a finding by an audit of `target` begins; `epoch` is the number of its epoch, from 1."""
    return f"Audit of {target}, epoch {epoch}: "


def file_faults(findings: Sequence[Finding]) -> list[str]:
    """Return one sentence for each invalid or repeated id in findings.yaml."""
    ids = [each.id for each in findings if each.id]
    found = [f"id: expected F and a number such as F3, found {name!r}" for name in ids if not FINDING_ID.fullmatch(name)]
    return found + [f"id: {name} appears twice" for name in sorted(set(ids)) if ids.count(name) > 1]


def unknown_evidence(links: Sequence[str], *, concluded: Mapping[str, bool], commits: Iterable[str]) -> list[str]:
    """Return one sentence for each of `links` that is neither an experiment with a record nor a known commit nor a web address.
    `concluded` says for each experiment id whether it has a record; `commits` are those of `links` that exist as commits.
    """
    there, found = set(commits), []
    for link in links:
        shown = one_line(link, 60)
        if ID_PATTERN.fullmatch(link):
            if link not in concluded:
                found.append(f"{shown}: no such experiment")
            elif not concluded[link]:
                found.append(f"{shown}: it has no record yet; expctl run {shown} makes one")
        elif COMMIT.fullmatch(link):
            found += [] if link in there else [f"{shown}: no such commit here"]
        elif not ADDRESS.fullmatch(link):
            found.append(f"{shown}: neither an experiment id, nor a commit, nor an address such as https://example.org/page")
    return found


def leads_back(findings: Sequence[Finding], start: str, by: str) -> bool:
    """Return whether marking the finding `start` as superseded by `by` would make findings supersede each other in a cycle."""
    follow = {each.id: each.superseded_by for each in numbered(findings)}
    seen = {start}
    while by in follow and by not in seen:
        seen.add(by)
        by = follow[by]
    return by == start


def _bare(text: str) -> str:
    return " ".join(text.split()).rstrip(".").casefold()
