"""The command `expctl profile ID`: explain a concluded experiment by building and profiling both of its sides again."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from expctl.cli.experiment_ids import experiment_ids
from expctl.domain.text import one_line

if TYPE_CHECKING:
    from expctl.flow.measuring.profile_experiment import ProfiledExperiment, TargetProfile


def experiment(
    experiment: Annotated[str, typer.Argument(metavar="ID", help="A concluded one.", autocompletion=experiment_ids)],
    target: Annotated[str, typer.Option(help="Only this target; default: all that can be built here.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON.")] = False,
) -> None:
    """Explain a concluded experiment, a REJECT for instance: build and profile both sides, say what differs. Times nothing but
    what a profiler of a GPU records, records nothing.
    """
    import os

    from expctl import wiring
    from expctl.cli.output import print_result
    from expctl.domain.experiment.ids import check_id

    check_id(experiment)
    if wiring.measured_beside():
        os.nice(19)  # what is being timed comes first
    found = wiring.profile_experiment(wiring.here(), experiment, target)
    print_result(found, lambda: list(_lines(found)), as_json, schema="profile-experiment/1")


_SAME = " = "


def _lines(found: "ProfiledExperiment") -> Iterator[str]:
    """Yield what changed, target by target: first figures that differ, then the names of those that don't."""
    yield f"{found.id}  {found.verdict}  {one_line(found.title, 100)}"
    for reason in found.reasons[:1]:
        yield f"  because    {one_line(reason, 200)}"
    yield f"  against    {found.base[:12]}, both sides built and profiled again; counts explain, they decide nothing"
    for each in found.targets:
        yield f"{each.target}:"
        yield from _target(each)


def _target(each: "TargetProfile") -> Iterator[str]:
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
