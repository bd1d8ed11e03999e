"""What is known of a hot loop that can't be counted here: the lines that KEEPs wrote, configs, and the last profile. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from expctl.domain.experiment.ids import id_order
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.patch.unified_diff import parse_diff
from expctl.domain.text import one_line

if TYPE_CHECKING:
    from expctl.domain.experiment.bucket_verdict import BucketVerdict
    from expctl.domain.experiment.record import Fact

FILES, SPANS = 3, 4
APART = 8
"""Lines of a source that are further apart than this are two places."""
LETTERS_LEAST = 8
"""A shorter line, such as a brace, stands everywhere."""
FIGURES_MAX = 600
HEAD_MAX = 70
_LOOP = re.compile(r"\s*(for|while)\b")
_MATRIX = re.compile(r"mma(?![a-z])", re.IGNORECASE)
_CONFIG = "config "


class Standing(Struct, frozen=True, kw_only=True):
    """The lines of one file at HEAD that KEEPs added: their numbers, and the ids of those KEEPs."""

    file: str
    lines: tuple[int, ...]
    by: tuple[str, ...]


class Uncounted(Struct, frozen=True, kw_only=True):
    """What `lines` say of the hot loop of `target`; `files` are those that KEEPs wrote, the one with most lines first."""

    target: str
    files: tuple[str, ...]
    lines: tuple[str, ...]


def files_of(patches: Iterable[bytes]) -> tuple[str, ...]:
    """Return the files that patches leave changed."""
    return tuple(sorted({file.new for patch in patches for file in parse_diff(patch) if file.new}))


def standing_lines(patches: Mapping[str, bytes], texts: Mapping[str, str]) -> tuple[Standing, ...]:
    """Return which lines of `texts` (path -> text at HEAD) the KEEPs' `patches` (id -> diff) added, most lines first."""
    found = []
    for path, text in texts.items():
        authors: dict[str, set[str]] = {}
        for name, patch in patches.items():
            for hunk in (hunk for file in parse_diff(patch) if file.new == path for hunk in file.hunks):
                for index in hunk.added:
                    authors.setdefault(hunk.after[index].strip(), set()).add(name)
        lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)]
        kept = [(number, authors[line]) for number, line in lines if len(line) >= LETTERS_LEAST and line in authors]
        if kept:
            by = sorted(set().union(*(names for _, names in kept)), key=id_order)
            found.append(Standing(file=path, lines=tuple(number for number, _ in kept), by=tuple(by)))
    return tuple(sorted(found, key=lambda each: -len(each.lines)))


class Loop(Struct, frozen=True, kw_only=True):
    """A loop of a source: first and last line, its head as the text shows it, and whether it names matrix instructions."""

    first: int
    last: int
    head: str
    multiplies: bool = False


def loops_of(text: str) -> tuple[Loop, ...]:
    """Return the longest loops of a source that don't lie in another. A loop reaches as far as lines are indented further than
    its head; directives of a preprocessor may stand at the margin.
    """
    lines = text.splitlines()
    found: list[Loop] = []
    for number, line in enumerate(lines, 1):
        if not _LOOP.match(line) or (found and number <= found[-1].last):
            continue
        depth = len(line) - len(line.lstrip())
        last = number
        for beyond, below in enumerate(lines[number:], number + 1):
            if below.strip() and not below.startswith("#") and len(below) - len(below.lstrip()) <= depth:
                break
            last = beyond if below.strip() else last
        multiplies = any(_MATRIX.search(each) for each in lines[number - 1 : last])
        found.append(Loop(first=number, last=last, head=line.strip(), multiplies=multiplies))
    longest = sorted(found, key=lambda each: each.first - each.last)[:SPANS]
    return tuple(sorted((each for each in longest if each.last > each.first), key=lambda each: each.first))


def uncounted_lines(
    target: str, standing: Sequence[Standing], loops: Sequence[Loop], profiled: str, facts: Sequence[Fact]
) -> Iterator[str]:
    """Yield where the hot loop of `target` must be (`loops` are those of the first file of `standing`), and what the last
    profile there, of the experiment `profiled`, showed.
    """
    if standing:
        at = "; ".join(f"{each.file} lines {_spans(each.lines)} (by {', '.join(each.by)})" for each in standing[:FILES])
        yield f"{target}: Where KEEPs on it worked, most lines first, as they stand in this commit: {at}."
    if standing and loops:
        told_of = "; ".join(
            f"{each.first} to {each.last} `{one_line(each.head, HEAD_MAX)}`{' (the hot one: it multiplies)' * each.multiplies}"
            for each in loops
        )
        yield f"{target}: The longest loops of {standing[0].file}, as it is written: lines {told_of}."
    told = [each for each in facts if each.unit != "launches"]
    if told:
        said = ", ".join(f"{each.name} {each.value:.6g}{f' {each.unit}' if each.unit else ''}" for each in told)
        yield f"{target}: Profile of {profiled}, as it was kept: {one_line(said, FIGURES_MAX)}."


def config_line(target: str, timed: str, notes: Iterable[str], tunings: Mapping[str, Sequence[BucketVerdict]]) -> str:
    """Say with which config the kernel of each size was timed on `target`, by the `notes` of the experiment `timed`, and what
    later `tunings` (id -> buckets) changed of that; "" where no note names one.
    """
    note = next((each for each in notes if each.startswith(_CONFIG)), "")
    said = note.rpartition("config of the candidate ")[2].removeprefix(_CONFIG)
    if not said:
        return ""
    by_size = dict(part.rpartition(": ")[::2] for part in said.split("; "))
    for name, buckets in tunings.items():
        won = [each for each in buckets if each.verdict is Verdict.KEEP]
        changed = {
            shape: f"{each.config} since {name}, before {by_size[shape]}"
            for each in won
            for shape in each.shapes
            if shape in by_size
        }
        by_size |= changed
    told = "; ".join(f"{size or 'all sizes'}: {config}" for size, config in by_size.items())
    return f"{target}: Config, as {timed} was timed: {told}."


def _spans(lines: Sequence[int]) -> str:
    spans: list[list[int]] = []
    for number in lines:
        if spans and number - spans[-1][1] <= APART:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    longest = sorted(sorted(spans, key=lambda each: each[0] - each[1])[:SPANS])
    more = " and others" if len(spans) > SPANS else ""
    return ", ".join(f"{first} to {last}" if first < last else str(first) for first, last in longest) + more
