"""Score one combination of a sweep: a cheap estimate of how much better it is than the baseline."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from expctl.domain.errors import Refused
from expctl.domain.experiment.record import Artifact, Fact
from expctl.domain.protocol.model import Protocol
from expctl.domain.protocol.profiler_passes import passes_of
from expctl.domain.protocol.proposer import Sweep
from expctl.domain.queue.dependency_answer import plain_name
from expctl.domain.run.step_result import Failed
from expctl.domain.verdict.samples import Sample, Side, round_effects
from expctl.flow.measuring.measure_round import measure_round
from expctl.flow.measuring.setup import CHECK_OUT, Setup
from expctl.flow.repository import preflight
from expctl.ports.context import Context


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """What all combinations of a sweep are scored with: target and commit (`setup`), the sweep, and the baseline's build."""

    setup: Setup
    sweep: Sweep
    baseline: Artifact

    def path(self, artifact: Artifact) -> Path:
        """Return the file of a build. Raises RuntimeError if it has vanished from the build cache."""
        return self.layouts(artifact)[0]

    def layouts(self, artifact: Artifact) -> tuple[Path, ...]:
        """Return the files of all layouts of a build. Raises RuntimeError if one has vanished from the build cache."""
        paths = self.setup.tools.toolchains.layouts(self.setup.target, artifact)
        if paths is None:
            raise RuntimeError(f"the build {artifact.sha256[:12]} is gone")
        return paths


def open_screen(context: Context, protocol: Protocol, sweep: Sweep, head: str, target: str) -> Screen:
    """Build the baseline commit `head`, with which combinations will be compared. Raises Refused if it does not build. They are
    scored on the target that the sweep names, else on `target`, or if that is "" on the first available one.
    """
    tools = context.tools_for(protocol, "sweep")
    name = sweep.screen.target or preflight.choose_targets(protocol, tools.toolchains, target).deciding
    setup = Setup(context=context, protocol=protocol, tools=tools, head=head, name=name)
    made = setup.build(head, setup.check_out(head, Side.BASELINE))
    if isinstance(made, Failed):
        raise Refused(
            f"{head[:10]} does not build for {name}",
            code="baseline-does-not-build",
            expected="a build of the baseline, to compare the combinations of the sweep with",
            found=made.reason,
            hint="correct the build and commit, then run the same command again",
        )
    return Screen(setup=setup, sweep=sweep, baseline=made[0])


def score_of(screen: Screen, commit: str) -> float | None:
    """Build, test and score one combination, committed as `commit`. A score above 0 is better than the baseline.

    The score is the mean of ln(baseline time / candidate time), weighted by size; or if the sweep names a fact, how much lower
    it is, in its unit. None if a build, test or measurement fails, or if a timed candidate has the baseline's machine code.
    """
    setup, fact = screen.setup, screen.sweep.screen.fact
    built = setup.build(commit, setup.context.workspace.check_out(commit, CHECK_OUT[Side.CANDIDATE]))
    cwd = setup.check_out(setup.head, Side.BASELINE)
    if isinstance(built, Failed) or (not fact and built[0].code == screen.baseline.code):
        return None
    made, (path, *_) = built
    if setup.target.test is not None:
        with setup.tools.gate.working(setup.target):
            tested = setup.tools.steps.test(setup.target.test, cwd=cwd, artifact=path, progress=setup.context.progress)
        if isinstance(tested, Failed):
            return None
    if fact:
        before, after = (_figure(screen, side, made) for side in Side)
        return None if before is None or after is None else before - after
    return _speed(screen, made, cwd)


def _speed(screen: Screen, made: Artifact, cwd: Path) -> float | None:
    setup, benchmark = screen.setup, screen.setup.benchmark
    artifacts = {Side.BASELINE: screen.layouts(screen.baseline), Side.CANDIDATE: screen.layouts(made)}
    setup.tools.steps.close()
    samples: list[Sample] = []
    for number in range(screen.sweep.screen.rounds):
        found = measure_round(setup.context, setup.tools, benchmark, cwd=cwd, artifacts=artifacts, number=number)
        if isinstance(found, Failed):
            return None
        samples += found
    weights = {size.name: size.weight for size in benchmark.sizes}
    effects = [sum(weights[size] * effect for size, effect in each.effect.items()) for each in round_effects(samples)]
    return math.fsum(effects) / len(effects) if effects else None


def _figure(screen: Screen, side: Side, made: Artifact) -> float | None:
    """Return the sweep's fact (e.g. registers) of one side, from its build or else its profile; None if neither has it. `made`
    is the candidate's build.
    """
    artifact = made if side is Side.CANDIDATE else screen.baseline
    wanted = plain_name(screen.sweep.screen.fact)

    def pick(facts: Sequence[Fact]) -> float | None:
        return next((fact.value for fact in facts if plain_name(fact.name) == wanted), None)

    found = pick(artifact.facts)
    setup = screen.setup
    step = setup.target.profile
    if found is not None or step is None:
        return found
    tree = setup.context.workspace.check_out(setup.head, CHECK_OUT[Side.BASELINE])
    out = setup.tools.profiles.fresh(setup.name, side)
    with setup.tools.gate.measuring(setup.target):
        profile = setup.tools.steps.profile(
            passes_of(step)[0], cwd=tree, tree=tree, artifact=screen.path(artifact), out=out, progress=setup.context.progress
        )
    setup.tools.profiles.forget(setup.name)
    return None if isinstance(profile, Failed) else pick(profile)
