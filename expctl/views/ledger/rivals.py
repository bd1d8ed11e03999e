"""What the ledger says of rivals: a cell of the dashboard, and tables for each target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from expctl.domain.experiment.rivals import Role, speed_ratio
from expctl.domain.text import one_line
from expctl.views.escape import Markdown, markdown_text
from expctl.views.ledger.rows import cell, head, line
from expctl.views.rivals import HEADS, KERNEL_HEADS, kernel_cells, name_text, rival_sentences, time_cells

if TYPE_CHECKING:
    from expctl.domain.experiment.rivals import Rivals, RivalSize
    from expctl.domain.ledger.model import TargetState

KERNEL_MOST, SENTENCE_MOST = 60, 500


def beside_text(target: TargetState) -> str:
    """Return how many times as fast the kernel is as the quickest rival and wall, at the size with the largest weight.

    E.g. `1.92x torch.compile; 1.11x library product`: the tables below have the names in full.
    """
    size = _main_size(target)
    if size is None or size.ours is None:
        return "not measured"
    found = [size.quickest(role) for role in (Role.RIVAL, Role.WALL)]
    return "; ".join(f"{speed_ratio(size.ours, each)[0]:.2f}x {_short(each.name)}" for each in found if each is not None)


def _short(name: str) -> str:
    return one_line(name.partition(",")[0].removesuffix(" alone"), 24)


def rival_tables_text(target: TargetState) -> Markdown:
    """Return Markdown about the newest rivals of a target: a table of each size, and the kernels at the main one."""
    rivals = target.rivals
    if rivals is None:
        return Markdown("")
    parts = [_heading(rivals), *(_size_table(size) for size in rivals.sizes)]
    size = _main_size(target)
    return Markdown("\n\n".join([*parts, *(_kernels(size) if size else [])]))


def _main_size(target: TargetState) -> RivalSize | None:
    sizes = target.rivals.sizes if target.rivals is not None else ()
    return next((size for size in sizes if size.name == target.main_size), sizes[0] if sizes else None)


def _heading(rivals: Rivals) -> str:
    kind = rivals.number_kind.replace("_", " ")
    versions = ", ".join(f"{name} {rivals.environment[name]}" for name in ("torch", "device") if name in rivals.environment)
    turns = max(len(each.ns) for size in rivals.sizes for each in size.entries)
    text = f"{rivals.target}, commit {rivals.head[:12]}, {kind}, median of {turns} turns, {rivals.date[:10]}"
    return markdown_text(f"{text}{f'; {versions}' if versions else ''}") + f" ([all figures]({rivals.path})):"


def _size_table(size: RivalSize) -> str:
    rows = [line(name_text(each), *time_cells(size, each)) for each in size.entries if each.ns]
    rows += [line(name_text(each), "", "", f"not timed: {each.absent}") for each in size.entries if each.absent]
    return "\n".join([head(size.name, *HEADS), *rows])


def _kernels(size: RivalSize) -> list[str]:
    rows = [
        line(cell(each.name, KERNEL_MOST), cell(rival.name, 40), *kernel_cells(each))
        for rival in size.entries
        for each in rival.kernels
    ]
    table = "\n".join([head(f"kernel at {size.name}", "of", *KERNEL_HEADS), *rows]) if rows else ""
    sentences = [(rival.name, text) for rival in size.entries for text in rival_sentences(rival)]
    bullets = "\n".join(f"- {markdown_text(one_line(f'{name}: {text}', SENTENCE_MOST))}" for name, text in sentences)
    return [part for part in (table, bullets) if part]
