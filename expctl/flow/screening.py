"""The sweep that is built in: try combinations of constants cheaply, propose the best. A screen never decides.

Each combination is built and tested like a candidate, then held against the baseline in a few rounds or by one figure. What
was proposed before, and ended in a verdict or waits, isn't tried again.
"""

import math
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from expctl.domain.books import Books
from expctl.domain.errors import Interrupted, Refused
from expctl.domain.experiment import Kind, Prediction, Proposal, Verdict
from expctl.domain.measurement import Sample, Side, round_effects
from expctl.domain.ports import Draft, Failed, Search
from expctl.domain.proposer import Sweep
from expctl.domain.protocol import Protocol, Target
from expctl.domain.record import Artifact, Fact
from expctl.domain.result import plain_name
from expctl.domain.sweep import Combination, NotAConstant, combinations, values_in, with_values, words_of
from expctl.flow import preflight
from expctl.flow.autopilot import Exhausted
from expctl.flow.bench import CHECK_OUT
from expctl.flow.propose import next_number
from expctl.flow.round import measure_round
from expctl.flow.world import Equipment, World


@dataclass(frozen=True, slots=True, kw_only=True)
class _Screen:
    """One sweep at one commit: what is built, on what it is judged, and the baseline's build."""

    world: World
    protocol: Protocol
    equipment: Equipment
    sweep: Sweep
    head: str
    name: str
    baseline: Artifact

    @property
    def target(self) -> Target:
        """Where it is screened."""
        return self.protocol.targets[self.name]

    def path(self, artifact: Artifact) -> Path:
        """The file of a build that was just made."""
        path = self.equipment.toolchains.path(self.target, artifact)
        if path is None:
            raise RuntimeError(f"the build {artifact.sha256[:12]} is gone")
        return path


def screened(
    world: World,
    protocol: Protocol,
    sweep: Sweep,
    search: Callable[[Sweep, Sequence[Combination]], Search],
    write: Callable[[Proposal], bytes],
    target: str,
) -> Draft | Exhausted:
    """The best combination as a proposal. Raises Refused when there is nothing to sweep, Interrupted between combinations."""
    head = world.workspace.head()
    text = _text(world, sweep, head)
    patches = _new_ones(world, sweep, head, text)
    if not patches:
        return Exhausted(why="the sweep has tried every combination")
    screen = _screen(world, protocol, sweep, head, target)
    world.progress.step("sweep", f"{len(patches)} combinations of {sweep.file} on {screen.name}")
    by_words = {words_of(each): commit for each, commit in patches}
    order = search(sweep, [each for each, _ in patches])
    scores: dict[str, float] = {}
    with ExitStack() as machine:
        if not sweep.screen.fact:
            gate = protocol.gate
            machine.enter_context(screen.equipment.gate.measuring(wait_s=gate.wait_s, quiet_s=gate.quiet_s))
            machine.callback(screen.equipment.steps.close)
        while (asked := order.ask()) is not None:
            if world.stop_requested():
                raise Interrupted("the sweep was stopped; its screen starts over with the next one")
            words = words_of(asked)
            score = _score(screen, by_words[words]) if words in by_words and words not in scores else scores.get(words)
            order.tell(score)
            if score is not None:
                scores[words] = score
    best = max(scores, key=lambda words: scores[words], default="")
    if not best or scores[best] <= 0:
        return Exhausted(why=f"the sweep found nothing better among {len(patches)} combinations")
    return _draft(world, screen, best, by_words[best], scores, write)


def _text(world: World, sweep: Sweep, head: str) -> str:
    contents = world.workspace.read_file(head, sweep.file)
    names = tuple(sweep.constants) or tuple(sweep.tuples[0])
    try:
        text = (contents or b"").decode()
        values_in(text, names)
    except (UnicodeDecodeError, NotAConstant) as error:
        raise Refused(
            "the sweep does not fit its file",
            expected=f"{', '.join(names)}, each defined in one line",
            found="no such file" if contents is None else str(error),
            where=f"{sweep.file} at {head[:10]}",
            hint="mend proposer.sweep in protocol.yaml, or the file, and commit",
        ) from error
    return text


def _new_ones(world: World, sweep: Sweep, head: str, text: str) -> list[tuple[Combination, str]]:
    """Combinations that change something and were not proposed before, each with a commit that has it."""
    workspace, books = world.workspace, Books.open(world.library, head)
    queued = [workspace.patch_identity(world.library.queued(head, each.id).patch) for each in books.queue()]
    known = {record.patch_id for record in books.records if record.verdict is not Verdict.INVALID} | set(queued)
    found = []
    for each in combinations(sweep):
        changed = with_values(text, each)
        if changed == text:
            continue
        commit = workspace.commit_files(
            parent=head, files={sweep.file: changed.encode()}, message=f"sweep: {words_of(each)}\n", date=world.clock.date()
        )
        if workspace.patch_identity(workspace.difference(head, commit)) not in known:
            found.append((each, commit))
    return found


def _screen(world: World, protocol: Protocol, sweep: Sweep, head: str, target: str) -> _Screen:
    equipment = world.equip(protocol, "sweep")
    name = sweep.screen.target or preflight.choose_targets(protocol, equipment.toolchains, target).deciding
    tree = world.workspace.check_out(head, CHECK_OUT[Side.BASELINE])
    made = equipment.toolchains.build(name, protocol.targets[name], tree=tree, sources=world.workspace.source_identity(head))
    if isinstance(made, Failed):
        raise Refused(
            f"{head[:10]} does not build for {name}",
            expected="a baseline to screen against",
            found=made.reason,
            hint="mend the build and commit, then run the same command again",
        )
    return _Screen(world=world, protocol=protocol, equipment=equipment, sweep=sweep, head=head, name=name, baseline=made)


def _score(screen: _Screen, commit: str) -> float | None:
    """How much better than the baseline: the KPI's mean ln(time ratio), or the figure's difference. None: it can't be had."""
    world, toolchains = screen.world, screen.equipment.toolchains
    tree = world.workspace.check_out(commit, CHECK_OUT[Side.CANDIDATE])
    made = toolchains.build(screen.name, screen.target, tree=tree, sources=world.workspace.source_identity(commit))
    cwd = world.workspace.check_out(screen.head, CHECK_OUT[Side.BASELINE])
    if isinstance(made, Failed) or (not screen.sweep.screen.fact and made.code == screen.baseline.code):
        return None
    if screen.target.test is not None:
        tested = screen.equipment.steps.test(screen.target.test, cwd=cwd, artifact=screen.path(made), progress=world.progress)
        if isinstance(tested, Failed):
            return None
    if screen.sweep.screen.fact:
        before, after = (_figure(screen, side, made) for side in Side)
        return None if before is None or after is None else before - after
    return _speed(screen, made, cwd)


def _speed(screen: _Screen, made: Artifact, cwd: Path) -> float | None:
    benchmark = screen.target.benchmark
    if benchmark is None:
        raise TypeError(f"{screen.name} decides without a benchmark")
    artifacts = {Side.BASELINE: screen.path(screen.baseline), Side.CANDIDATE: screen.path(made)}
    screen.equipment.steps.close()
    samples: list[Sample] = []
    for number in range(screen.sweep.screen.rounds):
        found = measure_round(screen.world, screen.equipment, benchmark, cwd=cwd, artifacts=artifacts, number=number)
        if isinstance(found, Failed):
            return None
        samples += found
    weights = {size.name: size.weight for size in benchmark.sizes}
    effects = [sum(weights[size] * effect for size, effect in each.effect.items()) for each in round_effects(samples)]
    return math.fsum(effects) / len(effects) if effects else None


def _figure(screen: _Screen, side: Side, made: Artifact) -> float | None:
    """The wanted fact of one side: of its build, else of its profile."""
    artifact = made if side is Side.CANDIDATE else screen.baseline
    wanted = plain_name(screen.sweep.screen.fact)

    def pick(facts: Sequence[Fact]) -> float | None:
        return next((fact.value for fact in facts if plain_name(fact.name) == wanted), None)

    found = pick(artifact.facts)
    step = screen.target.profile
    if found is not None or step is None:
        return found
    state = screen.world.workspace
    tree = state.check_out(screen.head, CHECK_OUT[Side.BASELINE])
    profile = screen.equipment.steps.profile(
        step, cwd=tree, tree=tree, artifact=screen.path(artifact), progress=screen.world.progress
    )
    return None if isinstance(profile, Failed) else pick(profile)


def _draft(
    world: World, screen: _Screen, best: str, commit: str, scores: dict[str, float], write: Callable[[Proposal], bytes]
) -> Draft:
    books = Books.open(world.library, screen.head)
    taken = {each.id for each in books.proposals} | {each.id for each in books.records}
    how = screen.sweep.screen
    gain = f"{how.fact} less by {scores[best]:g}" if how.fact else f"{100 * scores[best]:+.1f} % in {how.rounds} rounds"
    proposal = Proposal(
        id=f"P{next_number(taken)}",
        title=f"{best} in {screen.sweep.file}",
        kind=Kind.CONFIG,
        hypothesis=f"Best of {len(scores)} combinations in a screen on {screen.name}: {gain}. A screen, not a verdict.",
        prediction=Prediction(verdict=Verdict.KEEP),
    )
    patch = world.workspace.difference(screen.head, commit)
    world.progress.step("sweep", f"{best}: {gain}; proposed as {proposal.id}")
    return Draft(proposal=proposal, text=write(proposal), patch=patch)
