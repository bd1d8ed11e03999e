"""Score one combination of a sweep: how much better than the baseline is it, measured cheaply?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from expctl.domain.errors import Refused
from expctl.domain.experiment.record import Artifact, Fact
from expctl.domain.protocol.model import Protocol, Target
from expctl.domain.protocol.profiler_passes import passes_of
from expctl.domain.protocol.proposer import Sweep
from expctl.domain.queue.dependency_answer import plain_name
from expctl.domain.run.step_result import Failed
from expctl.domain.verdict.samples import Sample, Side, round_effects
from expctl.flow.measuring.measure_round import measure_round
from expctl.flow.repository import preflight
from expctl.flow.run.perform import CHECK_OUT
from expctl.ports.context import Context, Tools


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """One sweep at the commit `head`: the target `name` on which combinations are scored, and the baseline's build there."""

    context: Context
    protocol: Protocol
    tools: Tools
    sweep: Sweep
    head: str
    name: str
    baseline: Artifact

    @property
    def target(self) -> Target:
        """Return the part of the protocol of the target on which combinations are scored."""
        return self.protocol.targets[self.name]

    def path(self, artifact: Artifact) -> Path:
        """Return the file of a build. Raises RuntimeError if it has vanished from the cache."""
        path = self.tools.toolchains.path(self.target, artifact)
        if path is None:
            raise RuntimeError(f"the build {artifact.sha256[:12]} is gone")
        return path


def open_screen(context: Context, protocol: Protocol, sweep: Sweep, head: str, target: str) -> Screen:
    """Build the baseline at `head` and return the screen. Raises Refused if it does not build."""
    tools = context.tools_for(protocol, "sweep")
    name = sweep.screen.target or preflight.choose_targets(protocol, tools.toolchains, target).deciding
    tree = context.workspace.check_out(head, CHECK_OUT[Side.BASELINE], sealed=protocol.harness)
    with tools.gate.working():
        made = tools.toolchains.build(name, protocol.targets[name], tree=tree, sources=context.workspace.source_identity(head))
    if isinstance(made, Failed):
        raise Refused(
            f"{head[:10]} does not build for {name}",
            code="baseline-does-not-build",
            expected="a baseline to screen against",
            found=made.reason,
            hint="mend the build and commit, then run the same command again",
        )
    return Screen(context=context, protocol=protocol, tools=tools, sweep=sweep, head=head, name=name, baseline=made)


def score_of(screen: Screen, commit: str) -> float | None:
    """Return the KPI's mean ln(time ratio) or the fact's decrease (> 0: better); None if it fails or the code is unchanged."""
    context, toolchains = screen.context, screen.tools.toolchains
    tree = context.workspace.check_out(commit, CHECK_OUT[Side.CANDIDATE])
    gate = screen.tools.gate
    with gate.working():
        made = toolchains.build(screen.name, screen.target, tree=tree, sources=context.workspace.source_identity(commit))
    cwd = context.workspace.check_out(screen.head, CHECK_OUT[Side.BASELINE], sealed=screen.protocol.harness)
    if isinstance(made, Failed) or (not screen.sweep.screen.fact and made.code == screen.baseline.code):
        return None
    if screen.target.test is not None:
        with gate.working():
            path = screen.path(made)
            tested = screen.tools.steps.test(screen.target.test, cwd=cwd, artifact=path, progress=context.progress)
        if isinstance(tested, Failed):
            return None
    if screen.sweep.screen.fact:
        before, after = (_figure(screen, side, made) for side in Side)
        return None if before is None or after is None else before - after
    return _speed(screen, made, cwd)


def _speed(screen: Screen, made: Artifact, cwd: Path) -> float | None:
    benchmark = screen.target.benchmark
    if benchmark is None:
        raise TypeError(f"{screen.name} decides without a benchmark")
    artifacts = {Side.BASELINE: screen.path(screen.baseline), Side.CANDIDATE: screen.path(made)}
    screen.tools.steps.close()
    samples: list[Sample] = []
    for number in range(screen.sweep.screen.rounds):
        found = measure_round(screen.context, screen.tools, benchmark, cwd=cwd, artifacts=artifacts, number=number)
        if isinstance(found, Failed):
            return None
        samples += found
    weights = {size.name: size.weight for size in benchmark.sizes}
    effects = [sum(weights[size] * effect for size, effect in each.effect.items()) for each in round_effects(samples)]
    return math.fsum(effects) / len(effects) if effects else None


def _figure(screen: Screen, side: Side, made: Artifact) -> float | None:
    """Return the value of the screen's fact for one side, from its build, else from its profile."""
    artifact = made if side is Side.CANDIDATE else screen.baseline
    wanted = plain_name(screen.sweep.screen.fact)

    def pick(facts: Sequence[Fact]) -> float | None:
        return next((fact.value for fact in facts if plain_name(fact.name) == wanted), None)

    found = pick(artifact.facts)
    step = screen.target.profile
    if found is not None or step is None:
        return found
    state = screen.context.workspace
    tree = state.check_out(screen.head, CHECK_OUT[Side.BASELINE])
    out = screen.tools.profiles.fresh(screen.name, side)
    with screen.tools.gate.measuring(screen.target):
        profile = screen.tools.steps.profile(
            passes_of(step)[0], cwd=tree, tree=tree, artifact=screen.path(artifact), out=out, progress=screen.context.progress
        )
    screen.tools.profiles.forget(screen.name)
    return None if isinstance(profile, Failed) else pick(profile)
