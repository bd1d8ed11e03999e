"""Build, check and test a change without an experiment: no gate, no record, no commit, no timing."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

from msgspec.structs import replace

from expctl.domain.errors import Refused
from expctl.domain.experiment.proposal import Kind, Prediction, Proposal, Verdict
from expctl.domain.experiment.proposal_files import Queued
from expctl.domain.history.build_differences import build_changes
from expctl.domain.protocol.model import NumberKind, Target
from expctl.domain.rules.matching import Match
from expctl.domain.rules.told import Near
from expctl.domain.run.actions import Build, Settle, Test
from expctl.domain.run.events import Begun, Pinned
from expctl.domain.run.state_machine import Run, advance, next_action
from expctl.domain.run.target_roles import TargetRoles
from expctl.domain.verdict.samples import Side
from expctl.flow.repository import preflight
from expctl.flow.rules.repeat_check import matching_rules
from expctl.flow.run.open_run import OpenRun
from expctl.flow.run.perform import StepPerformer
from expctl.ports.context import Context

NAME = "try"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """What is known of a change without timing it. `verdict` is how an experiment with it would end before anything is timed,
    with its `reasons`; None if only the timing is left. `rules` are the do-not-repeat rules that refuse it, `near` those that
    it is close to, `untested` the targets that could not be tested beside a measurement, `builds` one line on each target
    that was built for both sides.
    """

    files: tuple[str, ...]
    target: str
    builds: tuple[str, ...]
    verdict: Verdict | None
    reasons: tuple[str, ...]
    rules: tuple[Match, ...]
    near: tuple[Near, ...]
    untested: tuple[str, ...]
    absent: tuple[str, ...]

    @property
    def passes(self) -> bool:
        """Is nothing left but to time it?"""
        return self.verdict is None and not self.rules


class _NoGate:
    """Waits for nobody: nothing is timed."""

    def check(self, target: Target | None = None) -> str:  # noqa: ARG002  the port's signature
        return ""

    def working(self, target: Target | None = None) -> nullcontext[None]:  # noqa: ARG002  the port's signature
        return nullcontext()

    @contextmanager
    def measuring(self, target: Target) -> Iterator[float]:
        raise TypeError(f"nothing is timed in a try, but {target} was to be")


def try_patch(context: Context, patch: bytes | None, *, target: str = "", is_measured_beside: bool = False) -> Tried:
    """Build and test HEAD with `patch` (None: the local changes in the scope), as `run` would until the first round.

    `target` is the one that an experiment would time ("": the first available). `is_measured_beside` says that another process
    is measuring: then tests that need a GPU are left out. Raises Refused if there is no change, or it may not be made.
    """
    workspace = context.workspace
    with context.locks.measuring(experiment=NAME):
        context.end_survivors()
        head = workspace.head()
        protocol = context.library.protocol(head)
        preflight.check_tree(workspace, protocol, head)
        contents = patch if patch is not None else _captured(context, protocol.scope)
        queued = Queued(proposal=_PROPOSAL, patch=contents, content="")
        tree = preflight.check_patch(workspace, protocol, head, queued, proposed=False)
        known = matching_rules(context.rulebook, head, contents)
        rules = tuple(match for match, changed in known.matches if not changed)
        tools = context.tools_for(protocol, NAME)
        targets = preflight.choose_targets(protocol, tools.toolchains, target)
        begun = Begun(
            id=NAME,
            target=targets.deciding,
            guards=targets.guards,
            absent=targets.absent,
            base=head,
            branch="",
            content="",
            again=False,
            date=context.clock.date(),
        )
        opened = OpenRun(
            context=context,
            tools=replace(tools, gate=_NoGate()),
            protocol=protocol,
            queued=queued,
            begun=begun,
            earlier=None,
            attempt=1,
        )
        roles = TargetRoles.of(protocol, begun)
        on_gpu = [name for name in roles.tests if protocol.targets[name].number_kind is NumberKind.DEVICE_TIME]
        untested = tuple(on_gpu) if is_measured_beside else ()
        roles = replace(roles, tests=tuple(name for name in roles.tests if name not in untested))
        candidate = workspace.commit_tree(base=head, tree=tree, message="A try\n")
        pinned = Pinned(candidate=candidate, tree=tree, patch_id="")
        try:
            run = _steps(opened, Run(kind=Kind.PERF, plan=opened.plan(), roles=roles, events=(begun, pinned)))
        finally:
            workspace.remove_check_outs()
        action = next_action(run)
        decided = action.decision if isinstance(action, Settle) else None
        return Tried(
            files=tuple(file.path for file in workspace.changed_files(head, tree)),
            target=begun.target,
            builds=_builds(run),
            verdict=decided.verdict if decided else None,
            reasons=decided.reasons if decided else (),
            rules=rules,
            near=known.near,
            untested=untested,
            absent=targets.absent,
        )


_PROPOSAL = Proposal(id=NAME, title="a try", kind=Kind.PERF, hypothesis="none", prediction=Prediction(verdict=Verdict.KEEP))


def _captured(context: Context, scope: tuple[str, ...]) -> bytes:
    if not context.workspace.dirty(scope):
        raise Refused(
            "there is nothing to try",
            code="nothing-to-try",
            expected=f"local changes in {', '.join(scope)}, or a patch",
            found="neither",
            where=str(context.workspace.root),
            hint="edit the kernel first, or expctl try my.patch",
        )
    return context.workspace.capture(scope)


def _steps(opened: OpenRun, run: Run) -> Run:
    """All builds and tests; the first action that is neither ends it."""
    opened.tools.steps.close()
    with StepPerformer(opened) as performer:
        while isinstance(action := next_action(run), Build | Test):
            run = advance(run, performer.perform(action, run))
    return run


def _builds(run: Run) -> tuple[str, ...]:
    made = {side.value: {name: built for name in run.targets() if (built := run.artifact(side, name))} for side in Side}
    return build_changes(made, timed=run.begun().target)
