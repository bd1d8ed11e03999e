"""Time what users would take instead of the kernel, beside the kernel of HEAD, and commit the figures. It decides nothing."""

from dataclasses import dataclass

from msgspec.structs import replace

from expctl.domain.errors import Refused
from expctl.domain.experiment.rivals import Rivals
from expctl.domain.protocol.step import Step
from expctl.domain.run.step_result import Failed
from expctl.domain.verdict.samples import Side
from expctl.flow.measuring.comparability import environment
from expctl.flow.measuring.setup import Setup
from expctl.flow.repository import preflight
from expctl.flow.repository.commit_messages import rivals_message
from expctl.flow.repository.ledger_inputs import read_ledger_inputs
from expctl.flow.repository.recovery import PATIENCE_S, clean_up_dead_runs, publishing
from expctl.ports.context import Context

NAME = "rivals"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Rivals that were timed, and the commit that added their file."""

    rivals: Rivals
    commit: str


def compare_rivals(context: Context, *, target: str = "") -> Compared:
    """Time the rivals on `target` ("": the first available) and commit what was found. Nothing is committed where it raises
    Refused, Busy or Interrupted.
    """
    with context.locks.measuring(experiment=NAME) as holder:
        clean_up_dead_runs(context)
        branch = preflight.check_workspace(context.workspace, (), NAME)
        setup = _setup(context, target)
        step = _step(setup)
        identity = context.workspace.files_identity(setup.head, ("protocol.yaml", *setup.protocol.harness))
        context.progress.title(NAME, "what users would take instead", base=setup.head, target=setup.name, protocol=identity)
        holder.show("measure")
        try:
            found = _measured(setup, step)
        finally:
            setup.tools.profiles.forget(setup.name)
            context.workspace.remove_check_outs()
        with publishing(context, NAME, wait_s=PATIENCE_S):
            return _published(context, branch, found)


def newest_rivals(context: Context, *, target: str = "") -> Rivals:
    """Return the newest committed rivals of `target` ("": the first of `decides` that has some). Raises Refused if there are
    none.
    """
    head = context.workspace.head()
    known = {each.target: each for each in context.library.rivals(head)}
    wanted = [target] if target else context.library.protocol(head).decides
    found = next((known[name] for name in wanted if name in known), None)
    if found is None:
        raise Refused(
            f"no rivals of {' or '.join(wanted)} have been measured",
            code="rivals-not-measured",
            expected="a file of experiments/rivals",
            found=f"those of {', '.join(known)}" if known else "none",
            hint=f"expctl rivals --target {target}" if target else "expctl rivals",
        )
    return found


def _setup(context: Context, target: str) -> Setup:
    head = context.workspace.head()
    protocol = context.library.protocol(head)
    tools = context.tools_for(protocol, NAME)
    name = preflight.choose_targets(protocol, tools.toolchains, target).deciding
    return Setup(context=context, protocol=protocol, tools=tools, head=head, name=name)


def _step(setup: Setup) -> Step:
    if setup.target.rivals is None:
        raise Refused(
            f"protocol.yaml does not say how to time the rivals of {setup.name}",
            code="rivals-not-described",
            expected=f"a step targets.{setup.name}.rivals",
            found="none",
            where=f"protocol.yaml at {setup.head[:10]}",
            hint="docs/RIVALS.md of expctl says what its script has to do; add the step and commit",
        )
    return setup.target.rivals


def _measured(setup: Setup, step: Step) -> Rivals:
    context, tools = setup.context, setup.tools
    tools.gate.check(setup.target)
    context.progress.working("build", setup.name)
    started = context.clock.monotonic_s()
    cwd = setup.check_out(setup.head, Side.BASELINE)
    made = setup.build(setup.head, cwd)
    if isinstance(made, Failed):
        raise _refused(setup, "build", made.reason)
    artifact, (path, *_) = made
    context.progress.step("build", setup.name, round(context.clock.monotonic_s() - started, 3))
    context.progress.working("gate", "waiting for a quiet machine")
    out = tools.profiles.fresh(setup.name, Side.BASELINE)
    with tools.gate.measuring(setup.target):
        context.progress.working(NAME, setup.name)
        started = context.clock.monotonic_s()
        ran = tools.steps.profile(step, cwd=cwd, tree=cwd, artifact=path, out=out, progress=context.progress)
    if isinstance(ran, Failed):
        raise _refused(setup, NAME, ran.reason)
    context.progress.step(NAME, setup.name, round(context.clock.monotonic_s() - started, 3))
    report = tools.profiles.rivals(out, setup.target.build.arch)
    if isinstance(report, Failed):
        raise _refused(setup, NAME, report.reason)
    return Rivals(
        target=setup.name,
        date=context.clock.date(),
        head=setup.head,
        artifact=artifact.sha256,
        number_kind=setup.target.number_kind,
        sizes=report.sizes,
        environment={**environment(context, tools, setup.name, setup.target), **report.environment},
    )


def _refused(setup: Setup, step: str, reason: str) -> Refused:
    return Refused(
        f"the rivals of {setup.name} could not be timed",
        code="rivals-failed",
        expected=f"that the step `{step}` of {setup.name} succeeds on {setup.head[:10]}",
        found=reason,
        hint="mend what it says, commit where a file changed, then run the same command again",
    )


def _published(context: Context, branch: str, rivals: Rivals) -> Compared:
    """Add the file in one commit with the ledger, wherever the branch is now."""
    workspace, library = context.workspace, context.library
    while True:
        head = workspace.branch_head(branch)
        inputs = read_ledger_inputs(library, head)
        others = tuple(each for each in inputs.rivals if each.target != rivals.target)
        files = {
            rivals.path: context.rivals_bytes(rivals),
            "ledger.md": context.render(replace(inputs, rivals=(*others, rivals)).ledger()).encode(),
        }
        commit = workspace.commit_files(parent=head, files=files, message=rivals_message(rivals), date=rivals.date)
        if workspace.publish(branch=branch, old=head, new=commit):
            return Compared(rivals=rivals, commit=commit)
