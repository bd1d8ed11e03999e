"""Doctor checks of what is committed: protocol, proposals, records, samples and ledger.md."""

from collections.abc import Callable, Iterable, Iterator

from expctl.domain.checkup import Finding, note, ok, wrong
from expctl.domain.errors import UPGRADE, Refused
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.experiment.record import Origin, Record
from expctl.domain.ledger.model import Ledger
from expctl.domain.machine.walls import Outcome, Walls
from expctl.domain.protocol.model import Protocol, Target
from expctl.domain.queue.ordering import State
from expctl.domain.run.step_result import Unavailable
from expctl.domain.verdict.decide_again import older_rule, was_decided_by_samples
from expctl.flow.repository.ledger_inputs import read_ledger_inputs
from expctl.ports.measuring import Toolchains
from expctl.ports.repository import Library


def committed_findings(
    library: Library,
    head: str,
    *,
    history: frozenset[str],
    contradicted: Callable[[], tuple[tuple[str, str, str], ...]],
    record_was: Callable[[str], str],
    ledger_is: Callable[[Ledger], bool],
    ledger_mend: str,
    has_files: Callable[[str], bool],
) -> Iterator[Finding]:
    """Yield what `expctl doctor` reports on protocol, proposals, records and ledger.md at the commit `head`.

    `history` are the ancestors of `head`. `contradicted` returns (experiment, reason, what mends it: "" for a damage) for
    records that don't follow from their samples, `record_was` the last commit with an experiment's record ("" if none),
    `ledger_is` whether ledger.md on disk shows the given ledger; `ledger_mend` is the command that writes it. `has_files`
    returns whether a folder or file is in `head`.
    """
    try:
        inputs = read_ledger_inputs(library, head)
    except Refused as first:
        damaged = library.damaged(head)
        is_one_of_them = any((first.where, first.found) == (each.where, each.found) for each in damaged)
        for refusal in damaged if is_one_of_them else (first, *damaged):
            where = "" if refusal.where in refusal.message else refusal.where
            what = ": ".join(filter(None, (where, refusal.message, "; ".join(refusal.found.splitlines()))))
            yield wrong("records", what, refusal.hint or "restore it from git (git log -- FILE has the commits)")
        return
    yield ok("protocol", f"{inputs.protocol.name}: {', '.join(inputs.protocol.decides)} decide")
    yield from _absent_folders(inputs.protocol, has_files)
    for entry in inputs.queue():
        if entry.state is State.MALFORMED:
            mend = f"correct that file and commit it; or expctl withdraw {entry.id} --why WHY"
            yield wrong("proposals", entry.why, UPGRADE if entry.is_newer else mend)
    records = library.records(head)
    faults = list(_lost(records, history))
    faults += [
        wrong("records", f"{name}: {why}", mend or _restore(name, record_was(name))) for name, why, mend in contradicted()
    ]
    older = [each.id for each in records if was_decided_by_samples(each) and older_rule(each.procedure)]
    skipped = f"; {', '.join(older)} not checked: decided by an older rule" if older else ""
    yield from faults or [ok("records", f"{len(records)} records; those that were measured follow from their samples{skipped}")]
    if not records and not has_files("ledger.md"):
        yield note("ledger", "there is no ledger.md yet: the first command that commits writes it")
    elif ledger_is(inputs.ledger()):
        yield ok("ledger", "ledger.md is what the committed records say")
    else:
        yield wrong("ledger", "ledger.md is not what the committed records say", ledger_mend)


def walls_findings(walls: Walls, gaps: Iterable[str]) -> Iterator[Finding]:
    """Yield what became of each forbidden act of the walls' self-test, what this machine lacks (`gaps`), and the sum."""
    for each in walls.attempts:
        if each.outcome is Outcome.OPEN:
            yield wrong("walls", f"NOT stopped: {each.act} ({each.how})", f"a machine with {' or '.join(each.by)}")
        else:
            yield (
                ok("walls", f"stopped: {each.act} ({each.how})")
                if each.outcome is Outcome.STOPPED
                else note("walls", f"not tried: {each.act}: this machine lacks what it acts on")
            )
    for gap in gaps:
        yield note("lacks", gap)
    sum_of = f"{walls.words()}; {walls.confinement}"
    yield wrong("sum", sum_of, "docs/SECURITY.md says what is left open where") if walls.open else ok("sum", sum_of)


def _absent_folders(protocol: Protocol, has_files: Callable[[str], bool]) -> Iterator[Finding]:
    for key, names in (("scope", protocol.scope), ("harness", protocol.harness)):
        for name in names:
            if not has_files(name.rstrip("/")):
                mend = f"git add {name} && git commit; or correct {key} in protocol.yaml and commit it"
                yield wrong(key, f"{name}, which protocol.yaml names, is not in the commit HEAD", mend)


def _restore(name: str, commit: str) -> str:
    folder = f"experiments/{name}"
    if not commit:
        return f"git log -- {folder} has the commits; git checkout COMMIT -- {folder} restores one, then commit it"
    return f"git checkout {commit[:12]} -- {folder} && git commit -m 'Restore {name}' -- {folder}"


def _lost(records: Iterable[Record], history: frozenset[str]) -> Iterator[Finding]:
    for record in records:
        kept = record.origin is Origin.MEASURED and record.verdict is Verdict.KEEP and record.kind != "analysis"
        if kept and record.candidate and record.candidate not in history:
            what = f"{record.id} is a KEEP, but its commit {record.candidate[:10]} is not in the history of HEAD"
            yield wrong("records", what, "git fetch --unshallow in a shallow clone; else git merge the branch that has it")


def target_findings(protocol: Protocol, toolchains: Toolchains) -> Iterator[Finding]:
    """Yield for each target whether it can be built here. It is an error (WRONG) only if no target that may decide is
    available.
    """
    answers = {name: toolchains.availability(name, target) for name, target in protocol.targets.items()}
    for name, answer in answers.items():
        if not isinstance(answer, Unavailable):
            text = ", ".join(f"{tool} {version}" for tool, version in answer.versions.items())
            yield ok("targets", f"{name}: {text or 'available'}{_control_words(protocol.targets[name])}")
        elif any(not isinstance(answers[each], Unavailable) for each in protocol.decides):
            yield note("targets", f"{name}: unavailable: {answer.reason}")
        else:
            yield wrong("targets", f"{name}: unavailable: {answer.reason}", answer.hint)


def _control_words(target: Target) -> str:
    if target.benchmark is None:
        return ""
    control = target.benchmark.control
    return f"; control {control.patch}" if control else "; no control: benchmark.control names a stand-in of known speed"
