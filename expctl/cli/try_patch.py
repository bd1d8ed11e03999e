"""The command `expctl try`: build and test a change in seconds, without an experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

if TYPE_CHECKING:
    import typer

    from expctl.flow.run.try_patch import Tried


def try_patch(
    patch: Annotated[str, typer.Argument(metavar="[PATCH]", help="A unified diff; - reads it. Left out: the work tree.")] = "",
    target: Annotated[str, typer.Option(help="The target that an experiment would time.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON.")] = False,
) -> None:
    """Build and test a change as `run` would, time nothing, commit nothing. Exit 0: only the timing is left; 1: it fails."""
    import os
    import sys
    from pathlib import Path

    import typer

    from expctl import wiring
    from expctl.cli.output import print_result
    from expctl.domain.patch.unified_diff import PATCH_BYTES_MAX
    from expctl.files import user_file
    from expctl.flow.run.try_patch import try_patch
    from expctl.views.console import ConsoleProgress

    place = wiring.here()
    contents = user_file.contents(Path(patch), "the patch", bytes_max=PATCH_BYTES_MAX) if patch else None
    beside = bool(wiring.measured_beside())
    if beside:
        os.nice(19)  # what is being timed comes first
    progress = ConsoleProgress(sys.stderr)
    if beside:
        progress.step("beside", "a measurement is under way: at the lowest priority, and no test that needs a GPU")
    tried = try_patch(wiring.trying(place, progress), contents, target=target, is_measured_beside=beside)
    print_result(_facts(tried), lambda: _lines(tried, patch), as_json, schema="try/1")
    if not tried.passes:
        raise typer.Exit(1)


def _facts(tried: Tried) -> dict[str, object]:
    return {
        "passes": tried.passes,
        "target": tried.target,
        "files": tried.files,
        "builds": tried.builds,
        "would_end": tried.verdict.value if tried.verdict else None,
        "reasons": tried.reasons,
        "rules": [{"rule": each.record.id, "level": each.level, "likeness": each.likeness} for each in tried.rules],
        "near": [{"rule": each.record.id, "percent": each.percent} for each in tried.near],
        "untested": tried.untested,
        "unavailable": tried.absent,
    }


def _lines(tried: Tried, patch: str) -> list[str]:
    from shlex import quote

    from expctl.domain.history.build_differences import NOTHING_NEW
    from expctl.domain.text import one_line

    lines = [f"try  {', '.join(tried.files)}"]
    lines += [f"  {'same' if line.endswith(NOTHING_NEW) else 'differs':<10} {one_line(line, 220)}" for line in tried.builds]
    lines.append(f"  decides    {tried.target}")
    lines += [f"  left out   {one_line(line, 120)}" for line in tried.absent]
    lines += [f"  untested   {name}" for name in tried.untested]
    lines += [f"  rule       {each.record.id} refuses it ({each.level}): expctl show {each.record.id}" for each in tried.rules]
    lines += [
        f"  close to   {each.record.id} ({each.percent} %), rejected: expctl show {each.record.id}" for each in tried.near
    ]
    if tried.verdict is not None:
        reasons = [one_line(reason, 220) for reason in tried.reasons] or ["no reason given"]
        return [
            *lines,
            f"  fails      an experiment would end {tried.verdict}: {reasons[0]}",
            *(f"             {each}" for each in reasons[1:]),
            *_meant_for(tried),
        ]
    if tried.rules:
        return [*lines, "  next       another change, or expctl new --precondition 'what is new'"]
    change = f"--patch {quote(patch)}" if patch else "--from-diff"
    return [
        *lines,
        "  passes     only the timing is left",
        f"  next       expctl new {change} --title '...' --hypothesis '...'",
    ]


def _meant_for(tried: Tried) -> list[str]:
    """Say what to do with a change that is for a target which isn't here."""
    from expctl.domain.experiment.proposal import Verdict

    if tried.verdict is not Verdict.NO_OP or tried.rules or not tried.absent:
        return []
    return [
        "  next       is it for a target that was left out? expctl new, and expctl run ID --target NAME where that target is"
    ]
