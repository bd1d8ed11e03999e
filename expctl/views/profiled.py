"""What profiles and builds tell of a concluded experiment, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from expctl.domain.text import one_line

if TYPE_CHECKING:
    from expctl.flow.measuring.profile_experiment import ProfiledExperiment, TargetProfile

_SAME = " = "


def profiled_lines(found: ProfiledExperiment) -> Iterator[str]:
    """Yield what changed, target by target: first figures that differ, then the names of those that don't."""
    yield f"{found.id}  {found.verdict}  {one_line(found.title, 100)}"
    for reason in found.reasons[:1]:
        yield f"  because    {one_line(reason, 200)}"
    yield f"  against    {found.base[:12]}, both sides built and profiled again; counts explain, they decide nothing"
    for each in found.targets:
        yield f"{each.target}:"
        yield from _target(each)


def _target(each: TargetProfile) -> Iterator[str]:
    if each.failed:
        yield f"  failed     {one_line(each.failed, 300)}"
    for line in each.builds:
        yield f"  build      {one_line(line.removeprefix(f'{each.target}: '), 300)}"
    changed = [text for text in each.profile if _SAME not in text]
    for text in changed:
        yield f"  changed    {one_line(text, 200)}"
    same = [text.split(_SAME)[0] for text in each.profile if _SAME in text]
    if same:
        yield f"  unchanged  {one_line(', '.join(same), 500)}"
    if each.why:
        yield f"  why        {one_line(each.why, 400)}"
