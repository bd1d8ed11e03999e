"""A file's kernels and the findings of a check as text, in the form in which compilers report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from expctl.check.examine import Examined
from expctl.check.findings import Finding
from expctl.check.kernel_file import KernelFile, Signature
from expctl.check.places import Place
from expctl.domain.layout import wrapped
from expctl.domain.text import one_line, plain_text

FINDINGS_MOST = 20
GUTTER = 5
"""Columns of the line number before a line of the source."""


def kernel_lines(file: KernelFile, proposed: Signature, proposal: str, width: int = 0) -> list[str]:
    """Return the kernels of a file as lines, then the proposed description of one of them."""
    count = len(file.kernels)
    heads = [f"# {plain_text(str(file.file))}: {count} kernel{'s' if count > 1 else ''} for {file.arch}"]
    heads += [f"#   {plain_text(str(each.cpp_name))}" for each in file.kernels]
    heads += [f"# note: {plain_text(note)}" for note in file.notes]
    if count > 1:
        heads.append(f"# Proposed for {plain_text(proposed.cpp_name.name)}; --kernel NAME proposes for another.")
    return [*(part for line in heads for part in _comment(line, width)), "", *_commented(proposal.splitlines(), width)]


def check_lines(result: Examined, width: int = 0) -> list[str]:
    """Return the result of a check as lines of at most `width` columns (0: any)."""
    lines = [line for each in result.findings[:FINDINGS_MOST] for line in finding_lines(each, result.orders, width)]
    if len(result.findings) > FINDINGS_MOST:
        lines.append(f"and {len(result.findings) - FINDINGS_MOST} more (--json has all)")
    lines += [part for note in result.notes for part in wrapped(f"note: {note}", width)]
    return [*lines, *(part for line in _summary(result) for part in wrapped(line, width))]


def finding_lines(finding: Finding, orders: int, width: int = 0) -> Iterator[str]:
    """Yield the lines of one finding: place, kind and words, the line of the source, and the same of the other place."""
    some = f" (in {len(finding.orders)} of {orders} orders)" if len(finding.orders) < orders else ""
    place = f"{finding.place}: " if finding.place else ""
    yield from wrapped(f"{place}{finding.kind}: {one_line(finding.what)}{some}", width)
    yield from _excerpt(finding.place, width)
    if finding.other is not None:
        yield from wrapped(f"{finding.other}: note: {_part_of_other(finding)}", width)
        yield from _excerpt(finding.other, width)


def _part_of_other(finding: Finding) -> str:
    word = finding.other_instruction.split(" ")[0]
    if "store" in word or "atomic" in word:
        return "written here"
    return "read here" if "load" in word else "the other place"


def _excerpt(place: Place | None, width: int) -> Iterator[str]:
    """Yield a line of the source with its number, and a mark below the column; nothing if the line can't be read."""
    if place is None or not place.text.strip():
        return
    text = _visible(place.text)
    room = max(width - GUTTER - 3, 20) if width else len(text)
    begin = max(0, place.column - room * 3 // 4) if len(text) > room else 0
    yield f"{place.line:>{GUTTER}} | {text[begin : begin + room]}"
    if place.column:
        yield f"{'':>{GUTTER}} | {'':>{place.column - 1 - begin}}^"


def _visible(text: str) -> str:
    """Return a line of a source with a space for each tab, and `?` for every character that a terminal may obey."""
    return "".join(each if each.isprintable() else " " if each == "\t" else "?" for each in text)


def _summary(result: Examined) -> Iterator[str]:
    count = len(result.findings)
    shapes = _named(result.shapes)
    at = f" at {shapes}" if shapes else ""
    orders = f"{result.orders} order{'s' if result.orders > 1 else ''} a shape"
    launches = f"{result.launches} launch{'es' if result.launches > 1 else ''} ({orders}, seed {result.seed})"
    if not count:
        yield f"{result.kernel}: nothing found in {launches}"
        return
    yield f"{result.kernel}: {count} fault{'s' if count > 1 else ''}{at}, in {launches}"
    if result.drawn is not None and result.drawn != result.shapes:
        yield f"first seen at {_named(result.drawn)}; {shapes} is the smallest that shows it"


def _named(shapes: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in shapes.items())


def _comment(line: str, width: int) -> list[str]:
    return [part if part.startswith("#") else f"#{part[1:]}" for part in wrapped(line, width)]


def _commented(lines: Sequence[str], width: int) -> list[str]:
    """Return the lines of a YAML file; where one is wider than `width`, its comment goes to lines of its own before it."""
    found: list[str] = []
    for line in lines:
        code, mark, comment = line.partition("  # ")
        if not width or len(line) <= width or line.startswith("#") or not mark:
            found += _comment(line, width) if line.startswith("#") else [line]
        else:
            found += [*_comment(f"  # {comment}", width), code.rstrip()]
    return found
