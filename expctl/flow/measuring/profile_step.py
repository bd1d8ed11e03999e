"""Run the profile step on one side and read its profiler's output.

A failure becomes a remark in the record, never a verdict.
"""

from pathlib import Path

from msgspec.structs import replace

from expctl.domain.protocol.profiler_passes import passes_of, profiler_of
from expctl.domain.protocol.step import Step
from expctl.domain.run.events import Profiled
from expctl.domain.run.step_result import Failed
from expctl.domain.verdict.samples import Side
from expctl.ports.context import Tools
from expctl.ports.measuring import Progress


def profile_side(
    tools: Tools, progress: Progress, step: Step, *, side: Side, target: str, arch: str, cwd: Path, tree: Path, artifact: Path
) -> Profiled:
    """Profile one side's build `artifact`, of work tree `tree`, in the baseline's work tree `cwd`. `arch` is the target's.

    Return figures or the failure. For the candidate, `why` of the result explains the difference to the baseline; "" if one has
    no profile or no cause is found.
    """
    profiles = tools.profiles
    empty = Profiled(side=side, facts=(), failure="", duration_s=0.0, target=target)
    seen = _passes(tools, progress, step, empty, cwd, tree, artifact)
    if not seen.failure:
        read = profiles.facts(target, side, arch)
        silent = profiler_of(step) and not read and not seen.remark
        remark = f"{profiler_of(step)} wrote nothing" if silent else seen.remark
        seen = replace(seen, facts=(*seen.facts, *read), remark=remark)
    if side is Side.CANDIDATE:
        seen = replace(seen, why="" if seen.failure else profiles.why(target, arch))
        profiles.forget(target)
    return seen


def _passes(tools: Tools, progress: Progress, step: Step, seen: Profiled, cwd: Path, tree: Path, artifact: Path) -> Profiled:
    """Run the profiler for times, then for counters; return `seen` with the facts found, or the failure. The first failure ends
    it; the output of a failed pass is deleted.
    """
    profiles = tools.profiles
    out = profiles.fresh(seen.target, seen.side)
    for number, each in enumerate(passes_of(step)):
        found = tools.steps.profile(each, cwd=cwd, tree=tree, artifact=artifact, out=out / str(number), progress=progress)
        failure = found.reason if isinstance(found, Failed) else ""
        damage = failure or profiles.unreadable(seen.target, seen.side, number)
        if damage:
            profiles.drop(seen.target, seen.side, number)
        if isinstance(found, tuple) and not number:
            seen = replace(seen, facts=found, remark=f"its output is left out: {damage}" if damage else "")
        if damage:
            return replace(seen, remark=f"no counters: {damage}") if number else replace(seen, failure=failure)
    return seen
