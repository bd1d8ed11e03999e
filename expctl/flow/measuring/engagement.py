"""Look whether the kernels that protocol.yaml names run where the whole model runs, before anything is timed."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from msgspec.structs import replace

from expctl.domain.protocol.model import Target
from expctl.domain.protocol.profiler_passes import passes_of
from expctl.domain.run.step_result import Failed, TestReport
from expctl.domain.text import one_line
from expctl.domain.verdict.samples import Side
from expctl.ports.context import Tools
from expctl.ports.measuring import Progress

SHOWN = 5
NAME_SHOWN = 60


def with_engagement(
    tools: Tools,
    progress: Progress,
    report: TestReport,
    target: Target,
    *,
    name: str,
    cwd: Path,
    tree: Path,
    artifact: Path,
) -> TestReport | Failed:
    """Profile the candidate's `artifact`, whose test has passed with `report`, and return that with the kernels that `engaged`
    of the `target` names; Failed if one of them isn't in the profile, or if there is none that can be read.
    """
    if target.profile is None or not target.engaged:
        return report
    step, side, profiles = passes_of(target.profile)[0], Side.CANDIDATE, tools.profiles
    out = profiles.fresh(name, side) / "0"
    found = tools.steps.profile(step, cwd=cwd, tree=tree, artifact=artifact, out=out, progress=progress)
    unread = found.reason if isinstance(found, Failed) else profiles.unreadable(name, side, 0)
    calls = {} if unread else profiles.calls(name, side)
    profiles.forget(name)
    if unread or not calls:
        return Failed(reason=f"no profile tells which kernels ran: {unread or 'the profile step wrote none'}", fault=True)
    ran = {pattern: _matching(pattern, calls) for pattern in target.engaged}
    if missing := [pattern for pattern, names in ran.items() if not names]:
        listed = ", ".join(one_line(each, NAME_SHOWN) for each in list(calls)[:SHOWN])
        reason = f"the test passed, but no kernel like {', '.join(missing)} ran in the model; most time went to {listed}"
        return Failed(reason=reason)
    said = ", ".join(f"{one_line(names[0], NAME_SHOWN)} {calls[names[0]]} calls" for names in ran.values())
    return replace(report, summary=f"{report.summary}; engaged: {said}")


def _matching(pattern: str, calls: Mapping[str, int]) -> list[str]:
    return [name for name in calls if fnmatchcase(name, pattern)]
