"""Find the best config of each bucket of a list of shapes, assemble the tables, and land them if no shape regresses."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from expctl.domain.errors import Refused
from expctl.domain.experiment.bucket_verdict import BucketVerdict
from expctl.domain.experiment.proposal import Proposal, Verdict
from expctl.domain.experiment.record import Record
from expctl.domain.protocol.model import inside
from expctl.domain.protocol.tune import Tune
from expctl.domain.run.step_result import Failed, TestReport
from expctl.domain.text import one_line
from expctl.domain.tuning.contest import Bucket, Contest
from expctl.domain.tuning.events import Landing, TuningBegun
from expctl.domain.tuning.hybrid import (
    Winners,
    assembled,
    buckets_by_family,
    buckets_of_default,
    changed,
    extents,
    files_of,
    started,
)
from expctl.domain.tuning.name import TUNE
from expctl.domain.tuning.verdicts import bucket_verdicts
from expctl.domain.verdict.samples import Side
from expctl.domain.verdict.sequential_test import Decision
from expctl.flow.measuring.comparability import tool_versions
from expctl.flow.measuring.control import show_control
from expctl.flow.measuring.setup import Setup
from expctl.flow.repository import preflight
from expctl.flow.repository.recovery import clean_up_dead_runs
from expctl.flow.tuning.asked import Asked, Edit
from expctl.flow.tuning.candidates import gate
from expctl.flow.tuning.comparison import compared
from expctl.flow.tuning.contests import shoot_out
from expctl.flow.tuning.screening import screen
from expctl.flow.tuning.session import Searching, Session, TuneJournal
from expctl.flow.tuning.settle import Found, settle
from expctl.ports.context import Context
from expctl.tables.facts import made_here
from expctl.tables.folder import DEFAULT, Folder, read_files
from expctl.tables.operations import config_text, settings_of
from expctl.tables.table import StaleTable, Table


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneTools:
    """What a tuning needs beside a context."""

    journal: TuneJournal
    search: Searching
    write: Callable[[Proposal], bytes]


def tune(context: Context, tools: TuneTools, asked: Asked) -> Record:
    """Tune, commit the record, and with a KEEP the tables; return the record. A killed one goes on where it was.

    Raises Refused, Busy, ControlFailed or Interrupted; what was measured by then is in the journal and not measured again.
    """
    with context.locks.measuring(experiment=TUNE) as holder:
        clean_up_dead_runs(context)
        head = context.workspace.head()
        protocol = context.library.protocol(head)
        branch = preflight.check_workspace(context.workspace, protocol.scope, TUNE)
        made = context.tools_for(protocol, TUNE)
        name = preflight.choose_targets(protocol, made.toolchains, asked.target).deciding
        setup = Setup(context=context, protocol=protocol, tools=made, head=head, name=name)
        rule = _rule(setup, asked)
        what = _digest({"rule": msgspec.json.encode((name, rule, asked.edit, asked.anew))})
        if (landed := _landed(context, tools.journal, branch, what)) is not None:
            return landed
        identity = context.workspace.files_identity(head, ("protocol.yaml", *protocol.harness))
        context.progress.title(TUNE, f"configs of {len(rule.shapes)} shapes", base=head, target=name, protocol=identity)
        holder.show("measure")
        try:
            standing, before = _tables(setup, rule, anew=asked.anew)
            session = _session(setup, rule, tools, asked, what)
            test = _tested(session)
            control = show_control(setup, then="nothing was tuned")
            found = replace(_found(session, standing, before, asked.edit), test=test, control=control)
            record = settle(session, branch, found, tools.write)
        finally:
            context.workspace.remove_check_outs()
        tools.journal.forget(session.key)
        return record


def _landed(context: Context, journal: TuneJournal, branch: str, asked: str) -> Record | None:
    """Return the record of a tuning that was `asked` for, published, and killed before its journal was forgotten; None if there
    is none. Journals of all that were published are forgotten.
    """
    found = None
    for key in journal.unfinished():
        for event in journal.read(key):
            if isinstance(event, Landing) and context.workspace.is_ancestor(event.commit, f"refs/heads/{branch}"):
                found = event.experiment if event.asked == asked else found
                journal.forget(key)
    return context.library.record(context.workspace.head(), found) if found else None


def _rule(setup: Setup, asked: Asked) -> Tune:
    rule = setup.target.tune
    if rule is None or not inside(rule.tables, setup.protocol.scope):
        raise Refused(
            f"protocol.yaml does not say what to tune on {setup.name}",
            code="tune-not-described",
            expected=f"targets.{setup.name}.tune, with its tables in the scope ({', '.join(setup.protocol.scope)})",
            found="none" if rule is None else rule.tables,
            where=f"protocol.yaml at {setup.head[:10]}",
            hint="docs/TUNE.md of expctl has an example; add it and commit",
        )
    shapes = asked.shapes or rule.shapes
    try:
        for shape in shapes or ("",):
            extents(shape)
        for config in rule.configs:
            _check_config(config)
    except ValueError as error:
        raise Refused(
            "a shape or a config to tune can't be read",
            code="tune-not-readable",
            expected="shapes such as 64x512x128 (MxNxK), and configs such as 1,8,2,2,8,2, without spaces",
            found=one_line(str(error), 120),
            hint="correct --shapes, or tune in protocol.yaml, and commit",
        ) from error
    return Tune(**{**{name: getattr(rule, name) for name in Tune.__struct_fields__}, "shapes": tuple(dict.fromkeys(shapes))})


def _check_config(config: str) -> None:
    """Raise ValueError unless `config` is written as a benchmark is asked for it."""
    try:
        written = config_text(settings_of(config))
    except ValueError:
        written = ""
    if written != config:
        raise ValueError(f"the config {config!r}")


def _tables(setup: Setup, rule: Tune, *, anew: bool) -> tuple[Folder, Folder]:
    """Return the tables as they stand, and as the tuning starts from them. Raises Refused for malformed or stale ones."""
    workspace = setup.context.workspace
    paths = workspace.list_files(setup.head, rule.tables)
    files = {path.removeprefix(f"{rule.tables}/"): workspace.read_file(setup.head, path) or b"" for path in paths}
    *_, arch, _, _, operation = ["", "", "", *rule.tables.split("/")]
    here = made_here(arch, tool_versions(setup.tools, setup.name, setup.target))
    try:
        standing = read_files(operation, files, where=rule.tables)
        if anew:
            emptied = {file: Table(dict.fromkeys(table.buckets), here) for file, table in standing.tables.items()}
            return standing, started(Folder(operation, emptied), rule.shapes, here)
        standing.check_fresh({name: fact for name, fact in here.items() if fact})
    except StaleTable as error:
        raise Refused(
            "the tables were made with something else than is here",
            code="tune-tables-stale",
            expected="tables of this compiler, driver and device",
            found=one_line(str(error)),
            where=rule.tables,
            hint="expctl tune --anew starts again from what the build chooses",
        ) from error
    except ValueError as error:  # a BadTable, or a number of thousands of digits
        raise Refused(
            "a table of configs is malformed",
            code="table-malformed",
            expected="tables as docs/TUNE.md describes them",
            found=str(error),
            where=rule.tables,
            hint="correct the file and commit",
        ) from error
    return standing, started(standing, rule.shapes, here)


def _session(setup: Setup, rule: Tune, tools: TuneTools, asked: Asked, what: str) -> Session:
    setup.tools.gate.check(setup.target)
    cwd = setup.check_out(setup.head, Side.BASELINE)
    setup.context.progress.working("build", setup.name)
    built = setup.build(setup.head, cwd)
    if isinstance(built, Failed):
        raise _not_ready(setup, "build", built.reason)
    rests_on = setup.context.workspace.files_identity(setup.head, setup.protocol.watched)
    words = [rests_on, setup.name, *rule.shapes]
    words += [*rule.configs, rule.order, str(rule.trials), asked.edit, str(asked.anew), built[0].sha256]
    key = f"{setup.name}-{hashlib.sha256(chr(0).join(words).encode()).hexdigest()[:12]}"
    session = Session(
        setup=setup,
        rule=rule,
        shapes=rule.shapes,
        journal=tools.journal,
        key=key,
        asked=what,
        begun=TuningBegun(base=setup.head, rests_on=rests_on, command=asked.command),
        search=tools.search,
        cwd=cwd,
        artifact=built[0],
        layouts=built[1],
    )
    others = [each for each in tools.journal.unfinished() if each != key]
    if session.events:
        session.told("resume", f"goes on after {len(session.events)} steps of an earlier one")
    elif others:
        session.told("resume", f"starts anew; {len(others)} other tunings are unfinished, and expctl doctor names them")
    return session


def _tested(session: Session) -> TestReport | None:
    setup = session.setup
    if setup.target.test is None:
        return None
    setup.context.progress.working("test", setup.name)
    with setup.tools.gate.working(setup.target):
        told = setup.tools.steps.test(
            setup.target.test, cwd=session.cwd, artifact=session.layouts[0], progress=setup.context.progress
        )
    if isinstance(told, Failed):
        raise _not_ready(setup, "test", told.reason)
    return told


def _not_ready(setup: Setup, step: str, reason: str) -> Refused:
    return Refused(
        f"{setup.head[:10]} can't be tuned on {setup.name}",
        code="tune-not-ready",
        expected=f"that its {step} succeeds",
        found=reason,
        hint="mend what it says and commit, then run the same command again",
    )


def _found(session: Session, standing: Folder, before: Folder, edit: Edit) -> Found:
    """Screen, shoot out, assemble and compare; each part takes what an earlier attempt has left in the journal."""
    if not session.events:
        session.add(session.begun)
    configs = gate(session)
    buckets: list[Bucket] = []
    decided: dict[Contest, Decision] = {}

    def won(some: Sequence[Bucket]) -> Winners:
        found = shoot_out(session, some, screen(session, some, configs))
        buckets.extend(some)
        decided.update(found)
        kept = {contest.bucket: contest.config for contest, each in found.items() if each.verdict is Verdict.KEEP}
        return {(bucket.file, bucket.name): settings_of(config) for bucket, config in kept.items()}

    shapes: Sequence[str] = session.shapes
    middle = before
    if edit is Edit.DEFAULT:
        of_default = buckets_of_default(before, shapes)
        winners = won(of_default)
        middle = assembled(before, winners)
        landed = {shape for bucket in of_default if (DEFAULT, bucket.name) in winners for shape in bucket.shapes}
        shapes = [shape for shape in shapes if shape not in landed]
    after = assembled(middle, won(buckets_by_family(middle, shapes)))
    verdicts = bucket_verdicts(buckets, decided)
    for_shapes = changed(before, after, session.shapes)
    if not for_shapes:
        return Found(
            verdicts=verdicts, decision=Decision(verdict=Verdict.REJECT, reasons=(_nothing_changes(verdicts, len(buckets)),))
        )
    tables = files_of(standing, after)
    decision, samples = compared(session, f"tables {_digest(tables)}", for_shapes)
    return Found(verdicts=verdicts, decision=decision, samples=samples, tables=tables)


def _nothing_changes(verdicts: Sequence[BucketVerdict], buckets: int) -> str:
    """Say why no table changes: nothing won, or what won stands in the tables, and the benchmark took something else."""
    kept = sum(each.verdict is Verdict.KEEP for each in verdicts)
    if kept:
        won = f"in {kept} of {buckets} buckets the config of the table is faster than what `auto` is"
        return f"{won}: the benchmark doesn't follow the tables"
    return f"none of {buckets} buckets has a config that is shown to be faster than what it has"


def _digest(files: Mapping[str, bytes]) -> str:
    return hashlib.sha256(b"\0".join(name.encode() + raw for name, raw in sorted(files.items()))).hexdigest()[:12]
