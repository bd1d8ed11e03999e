"""Measure a concluded experiment again with each side's own best config, and add the outcome to its record.

A code change is judged with a pinned config. Where it makes another config the best one, or the baseline has a better one, the
gain with own configs differs, and that is what users of a tuned table see.
"""

import hashlib
import math
import secrets
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from expctl.domain.errors import Refused
from expctl.domain.experiment.drift import explained
from expctl.domain.experiment.proposal import Mode
from expctl.domain.experiment.record import Drift, Record
from expctl.domain.protocol.tune import Tune
from expctl.domain.run.step_result import Failed
from expctl.domain.tuning.benchmark import screening, sided_as
from expctl.domain.tuning.screen import CONTROL, NEAR, SURE, Launch, scores
from expctl.domain.verdict.judge import estimates_of, judge
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import Sample, Side
from expctl.domain.verdict.sequential_test import Decision, MeasureMore
from expctl.flow.measuring.comparability import environment
from expctl.flow.measuring.compare_builds import build_sides, measure_sessions
from expctl.flow.measuring.control import show_control
from expctl.flow.measuring.measure_round import measure_round
from expctl.flow.measuring.setup import Setup
from expctl.flow.repository import preflight
from expctl.flow.repository.commit_messages import drift_message
from expctl.flow.repository.ledger_inputs import NewRecord, ledger_with
from expctl.flow.repository.recovery import PATIENCE_S, clean_up_dead_runs, publishing
from expctl.ports.context import Context

NAME = "drift"


def measure_drift(context: Context, experiment: str) -> Record:
    """Measure, commit and return the record with its drift. Nothing is kept where it raises Refused, Busy or Interrupted."""
    with context.locks.measuring(experiment=experiment) as holder:
        clean_up_dead_runs(context)
        head = context.workspace.head()
        record = _measured_record(context, head, experiment)
        protocol = context.library.protocol(record.base)
        branch = preflight.check_workspace(context.workspace, protocol.scope, experiment)
        tools = context.tools_for(protocol, experiment)
        name = preflight.choose_targets(protocol, tools.toolchains, record.target).deciding
        setup = Setup(context=context, protocol=protocol, tools=tools, head=record.base, name=name)
        rule = setup.target.tune or context.library.protocol(head).targets[name].tune
        if rule is None or record.procedure is None:
            raise _refused(experiment, f"targets.{name}.tune, with the configs of the build", "none")
        identity = context.workspace.files_identity(record.base, ("protocol.yaml", *protocol.harness))
        context.progress.title(
            experiment, "each side with its own best config", base=record.base, target=name, protocol=identity
        )
        holder.show("measure")
        try:
            drift, samples = _measured(setup, rule, record)
        finally:
            context.workspace.remove_check_outs()
        return _published(context, branch, experiment, drift, samples)


def _measured_record(context: Context, head: str, experiment: str) -> Record:
    record = context.library.record(head, experiment)
    if record is None or not record.estimates or not record.candidate or record.buckets:
        found = "none" if record is None else "a tuning, whose sides are configs" if record.buckets else str(record.verdict)
        raise _refused(experiment, "an experiment whose two commits were timed", found)
    if record.drift is not None:
        raise _refused(experiment, "a record without a drift", f"one of {record.drift.date}")
    return record


def _refused(experiment: str, expected: str, found: str) -> Refused:
    return Refused(
        f"{experiment} can't be measured with each side's own best config",
        code="drift-not-possible",
        expected=expected,
        found=found,
        hint=f"expctl show {experiment}; docs/TUNE.md says what a drift is",
    )


def _measured(setup: Setup, rule: Tune, record: Record) -> tuple[Drift, tuple[Sample, ...]]:
    built = build_sides(setup, {Side.BASELINE: record.base, Side.CANDIDATE: record.candidate})
    if isinstance(built, Failed):
        raise _refused(record.id, "that both commits build", built.reason)
    artifacts = {side: layouts for side, (_, layouts) in built.items()}
    show_control(setup, then="no drift was measured")
    cwd = setup.check_out(record.base, Side.BASELINE)
    configs = {side: _best(setup, rule, cwd, artifacts[side]) for side in Side}
    plan = Plan.of(setup.benchmark, setup.protocol.keep, record.procedure.mode if record.procedure else Mode.GAIN)
    asks = {
        side.value: {size: f"{size}@{config}" if config else size for size, config in chosen.items()}
        for side, chosen in configs.items()
    }
    benchmark = sided_as(setup.benchmark, asks)
    targets = {**setup.protocol.targets, setup.name: replace(setup.target, benchmark=benchmark)}
    own = Setup(
        context=setup.context,
        protocol=replace(setup.protocol, targets=targets),
        tools=setup.tools,
        head=setup.head,
        name=setup.name,
    )

    def judged(samples: Sequence[Sample]) -> Decision | MeasureMore:
        return judge(samples, plan, record.kind)

    found = measure_sessions(own, artifacts, judged, NAME)
    if isinstance(found, Failed):
        raise _refused(record.id, "a benchmark that times a size as n=512@1,8,2,2,8,2", found.reason)
    samples, decision = found
    named: Mapping[str, Mapping[str, str]] = {side.value: chosen for side, chosen in configs.items()}
    drift = Drift(
        target=setup.name,
        environment=environment(setup.context, setup.tools, setup.name, setup.target),
        date=setup.context.clock.date(),
        verdict=decision.verdict,
        reasons=decision.reasons,
        estimates=estimates_of(decision, samples, setup.benchmark.sizes),
        configs=named,
        procedure=decision.procedure,
        samples_sha256=hashlib.sha256(setup.context.samples_bytes(samples)).hexdigest(),
    )
    return replace(drift, explanation=explained(record.estimates, drift, named)), samples


def _best(setup: Setup, rule: Tune, cwd: Path, layouts: tuple[Path, ...]) -> dict[str, str]:
    """Return the config that a screen finds best for a build at each size; "" where the pinned one is as good."""
    sizes = [size.name for size in setup.benchmark.sizes]
    names = [*sizes, *(f"{size}@{config}" for size in sizes for config in rule.configs)]
    secrets.SystemRandom().shuffle(names)
    with setup.tools.gate.measuring(setup.target):
        try:
            sides = dict.fromkeys(Side, layouts)
            bench = screening(setup.benchmark, rule, names)
            timed = measure_round(setup.context, setup.tools, bench, cwd=cwd, artifacts=sides, number=0)
        finally:
            setup.tools.steps.close()
    if isinstance(timed, Failed):
        raise _refused(setup.name, "a benchmark that times a size as n=512@1,8,2,2,8,2", timed.reason)
    found = {}
    for size in sizes:
        best, *_ = scores(_launches([each for each in timed if not each.taints], size, rule.configs))
        found[size] = best.config if best.gain > max(NEAR, SURE * best.error) else ""
        setup.context.progress.step("screen", f"{size}: {found[size] or 'the pinned config'} is the best")
    return found


def _launches(samples: Sequence[Sample], size: str, configs: Sequence[str]) -> list[Launch]:
    times = {(each.launch, each.size): math.log(statistics.median(each.ns)) for each in samples}
    launches = sorted({launch for launch, _ in times})
    return [
        {CONTROL: times[launch, size]} | {config: times[launch, f"{size}@{config}"] for config in configs}
        for launch in launches
    ]


def _published(context: Context, branch: str, experiment: str, drift: Drift, samples: Sequence[Sample]) -> Record:
    workspace, library = context.workspace, context.library
    with publishing(context, experiment, wait_s=PATIENCE_S):
        while True:
            head = workspace.branch_head(branch)
            record = replace(_measured_record(context, head, experiment), drift=drift)
            text = context.record_bytes(record)
            files = {
                f"experiments/{experiment}/record.json": text,
                f"experiments/{experiment}/drift.jsonl": context.samples_bytes(samples),
                "ledger.md": context.render(ledger_with(library, head, NewRecord(record, text))).encode(),
            }
            commit = workspace.commit_files(parent=head, files=files, message=drift_message(record), date=drift.date)
            if workspace.publish(branch=branch, old=head, new=commit):
                return record
