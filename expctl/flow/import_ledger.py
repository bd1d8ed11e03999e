"""Import a manual ledger: one commit turns its rows into records and updates ledger.md."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from expctl.domain.errors import Misused, Refused
from expctl.domain.experiment.record import Record
from expctl.domain.protocol.model import Protocol
from expctl.flow.repository import preflight
from expctl.flow.repository.commit_messages import import_message
from expctl.flow.repository.ledger_inputs import read_ledger_inputs
from expctl.flow.repository.recovery import publishing
from expctl.imported.audit.ledger import audit
from expctl.imported.audit.noise import Noise
from expctl.imported.document import Document, ParsedLedger, Unread
from expctl.imported.given import Given
from expctl.imported.ids import IdAssignment, assign_ids, entries_of
from expctl.imported.questions import hint
from expctl.imported.records import (
    accepted_texts,
    corrected,
    number_kind_of,
    records_of,
    stated_target,
    updated_record,
)
from expctl.imported.remarks import Remark
from expctl.imported.roofline import Roofline, roofline_of
from expctl.imported.rows import read_document
from expctl.imported.rules import rules_by_row
from expctl.ports.context import Context
from expctl.ports.repository import Library

SHOWN_MAX = 12
NOTHING_GIVEN = Given()


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Options of `expctl import`. `peak_tflops` (TFLOP/s) and `flop` (size -> operations) override those of protocol.yaml.

    `noise_percent` is the noise of the imported figures where the ledger states none; `renumber` gives new ids to rows whose
    ids are taken; `partial` leaves out rows that can't be read. `given` is what the user says about columns, words and units;
    `accept` are keys of remarks of the audit that become corrections; `doubtful` asks for those too that are mostly none.
    `command` is what was typed, for advice that repeats it.
    """

    target: str = ""
    peak_tflops: float = 0.0
    flop: Mapping[str, int] | None = None
    noise_percent: float | None = None
    renumber: bool = False
    partial: bool = False
    given: Given = NOTHING_GIVEN
    accept: tuple[str, ...] = ()
    doubtful: bool = False
    command: str = "expctl import FILE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What an import of the ledger `file` would do; `target` is "" if neither the options nor the file name one;
    `usual_target` is the first that decides in this repository, `is_own_target` says whether protocol.yaml has the target.

    `records` are new, `updated` those whose row was rewritten or for which a remark of the audit was accepted. `unknown` are
    keys of remarks that the audit doesn't make.
    """

    file: str
    target: str
    usual_target: str
    is_own_target: bool
    reading: ParsedLedger
    naming: IdAssignment
    records: tuple[Record, ...]
    updated: tuple[Record, ...]
    unknown: tuple[str, ...]
    remarks: tuple[Remark, ...]
    unruled: tuple[Unread, ...]
    roofline: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """A finished import of a manual ledger; `commit` is "" if every row was imported before."""

    plan: Plan
    commit: str


def plan_import(library: Library, head: str, document: Document, options: Options) -> Plan:
    """Compute the records that importing the manual ledger `document` would add to the commit `head`. Changes nothing."""
    protocol, records = library.protocol(head), library.records(head)
    taken = set(library.experiments(head))
    target = options.target or stated_target(document)
    reading = read_document(document, options.given.map())
    roofline = _roofline(protocol, target, options)
    noise = None if options.noise_percent is None else Noise(percent=options.noise_percent, source="--noise")
    doubtful = options.doubtful or bool(options.accept)  # so that the keys of all are known
    remarks = audit(document, reading.rows, roofline, noise, options.given.directions(), doubtful=doubtful)
    rules, unruled = rules_by_row(document, reading.rows)
    naming = assign_ids(tuple(entries_of(reading.rows)), document.name, records, taken, renumber=options.renumber)
    accepted = [remark for remark in remarks if remark.key in options.accept]
    made = records_of(
        (*naming.named, *naming.updated),
        accepted,
        rules,
        file=document.name,
        target=target,
        number_kind=number_kind_of(protocol, target),
    )
    new = {each.id for each in naming.named}
    return Plan(
        file=document.name,
        target=target,
        usual_target=protocol.decides[0],
        is_own_target=target in protocol.targets,
        reading=reading,
        naming=naming,
        records=tuple(record for record in made if record.id in new),
        updated=_updated(naming, {each.id: each for each in made}, {each.id: each for each in records}, accepted),
        unknown=tuple(sorted(set(options.accept) - {remark.key for remark in remarks})),
        remarks=remarks,
        unruled=unruled,
        roofline=roofline.source,
    )


def import_ledger(context: Context, document: Document, options: Options) -> Imported:
    """Turn the rows of a manual ledger into records, in one commit. If one row can't be, raises Refused and changes nothing."""
    workspace = context.workspace
    with publishing(context, f"import of {document.name}") as head:
        protocol = context.library.protocol(head)
        plan = plan_import(context.library, head, document, options)
        check(plan, options)
        written = (*plan.records, *plan.updated)
        if not written:
            return Imported(plan=plan, commit="")
        branch = preflight.check_workspace(workspace, (), "")
        preflight.check_tree(workspace, protocol, head)
        preflight.check_free(workspace, head, *(record.id for record in plan.records))
        files = {f"experiments/{record.id}/record.json": context.record_bytes(record) for record in written}
        inputs = read_ledger_inputs(context.library, head)
        ledger = inputs.with_records(written).ledger()
        files["ledger.md"] = context.render(ledger).encode()
        message = import_message(document.name, [record.id for record in written])
        commit = workspace.commit_files(parent=head, files=files, message=message, date=context.clock.date())
        if not workspace.publish(branch=branch, old=head, new=commit):
            raise preflight.moved_meanwhile(workspace, head)
        return Imported(plan=plan, commit=commit)


def check_dry(plan: Plan, options: Options) -> None:
    """Check the plan as `check` does, for `--dry-run`. The message of an error begins with `would be refused`."""
    try:
        check(plan, options)
    except Refused as refusal:
        refusal.message = f"would be refused: {refusal.message}"
        raise


def check(plan: Plan, options: Options) -> None:
    """Raise Refused if the import would leave out a row or overwrite a record, Misused if the target is unknown."""
    reading = plan.reading
    if not reading.rows and not reading.waiting and not reading.unread:
        raise Refused(
            f"{plan.file} holds no ledger that can be read",
            code="no-ledger-in-file",
            expected="a table with a column of verdicts (keep, reject, discard, ...) and one of ids or changes",
            found=_listed(reading.skipped_tables) or "no table",
            where=plan.file,
            hint=hint(
                options.command,
                reading.skipped_tables,
                _or_proposed(plan, options, '--map "line N=VERDICT" takes in a line (N and VERDICT are yours to say)'),
            ),
        )
    if not plan.target:
        raise Misused(
            "the target on which these figures were measured is unknown",
            code="import-target-unknown",
            expected="--target NAME, or the name of one GPU in the file's title",
            found="neither",
            hint=f"{options.command} --target {plan.usual_target}",
        )
    if reading.unread and not options.partial:
        raise Refused(
            f"{len(reading.unread)} rows can't be read",
            code="import-rows-unread",
            expected="a verdict in each row",
            found=_listed(reading.unread),
            where=plan.file,
            hint=hint(options.command, reading.unread, _or_proposed(plan, options, "--partial imports the others")),
        )
    if plan.unknown:
        raise Refused(
            "the audit makes no such remark",
            code="import-remark-unknown",
            expected="keys that the dry run shows, six hex digits each",
            found=", ".join(plan.unknown),
            where=plan.file,
            hint="--dry-run lists its remarks; a key changes with the words of the remark",
        )
    if plan.naming.conflicts:
        conflicts = [f"line {clash.entry.row.line}: {clash.why}" for clash in plan.naming.conflicts]
        more = [f"and {len(conflicts) - SHOWN_MAX} more"] if len(conflicts) > SHOWN_MAX else []
        raise Refused(
            f"{len(conflicts)} ids are taken",
            code="import-ids-taken",
            expected="ids that were never used: an id is bound to its content",
            found="\n".join([*conflicts[:SHOWN_MAX], *more]),
            where=plan.file,
            hint="--renumber gives these rows the next free ids; each record then names its row",
        )


def _or_proposed(plan: Plan, options: Options, otherwise: str) -> str:
    """Return what else to type: that the verdicts that are sure are taken, where there are any; and `otherwise`."""
    guesses = sum(each.guess is not None for each in plan.reading.asked())
    taken = f"--map proposed takes the {guesses} verdicts that --dry-run lists; " if guesses else ""
    return f"{options.command} {taken}{otherwise}"


def _updated(
    naming: IdAssignment, made: Mapping[str, Record], before: Mapping[str, Record], accepted: Sequence[Remark]
) -> tuple[Record, ...]:
    """Return records that change: of rows that were rewritten (as in `made`), and of known rows with an `accepted` remark."""
    lines = {each.entry.row.line for each in (*naming.named, *naming.updated, *naming.known)}
    found = [updated_record(before[each.id], made[each.id]) for each in naming.updated]
    found += [corrected(before[each.id], accepted_texts(accepted, each, lines)) for each in naming.known if each.id in before]
    return tuple(record for record in found if record != before[record.id])


def _roofline(protocol: Protocol, target: str, options: Options) -> Roofline:
    found = roofline_of(protocol, target)
    peak = options.peak_tflops * 1e12 or found.peak_flops
    source = f"--peak {options.peak_tflops:g}" if options.peak_tflops else found.source
    return Roofline(peak_flops=peak, flop={**found.flop, **(options.flop or {})}, source=source)


def _listed(lines: tuple[Unread, ...]) -> str:
    shown = [f"line {each.line}: {each.text}: {each.why}" for each in lines[:SHOWN_MAX]]
    return "\n".join([*shown, *([f"and {len(lines) - SHOWN_MAX} more"] if len(lines) > SHOWN_MAX else [])])
