"""The result of an import as text: records, lines that were not understood, and the audit."""

import itertools
from collections import Counter
from collections.abc import Sequence

from expctl.domain.experiment.proposal import Kind
from expctl.domain.experiment.record import Record
from expctl.domain.text import one_line, plain_text
from expctl.imported.document import ParsedLedger, Unread
from expctl.imported.ids import IdAssignment, NamedEntry
from expctl.imported.questions import VERDICT, lines_option
from expctl.imported.remarks import Remark

RUN_MIN = 3


def record_lines(records: Sequence[Record], naming: IdAssignment) -> list[str]:
    """Return one line per new record, per entry of the ledger imported before, and per entry whose id can't be used."""
    rows = {each.id: each.entry.row.line for each in naming.named}
    lines = [
        f"  {record.id:<8} {record.verdict:<12} {record.kind:<8} line {rows[record.id]:<4} {one_line(record.title, 70)}"
        + (f"  [{len(record.history.corrections)} remarks]" if record.history and record.history.corrections else "")
        for record in records
    ]
    lines += [f"  {each.id:<8} updated: {each.note} (line {each.entry.row.line})" for each in naming.updated]
    lines += [
        f"  {each.id:<8} imported before{', ' + each.note if each.note else ''} (line {each.entry.row.line})"
        for each in naming.known
    ]
    return lines + [f"  {'-':<8} {each.why} (line {each.entry.row.line})" for each in naming.conflicts]


def split_lines(naming: IdAssignment) -> list[str]:
    """Return one line per row of the ledger that becomes several records, because it has several ids or verdicts."""
    made: dict[int, list[NamedEntry]] = {}
    for each in (*naming.named, *naming.known):
        made.setdefault(each.entry.row.line, []).append(each)
    lines = []
    for line, parts in made.items():
        row = parts[0].entry.row
        if len(parts) > 1:
            words = plain_text(f"{row.label} ({' / '.join(ruling.words for ruling in row.rulings)})")
            lines.append(f"  split    line {line}: {words} is {', '.join(each.id for each in parts)}")
    return lines


def summary_line(records: Sequence[Record]) -> str:
    """Return the number of records by verdict, e.g. `18 records: 8 KEEP, 10 REJECT`, and how many state no kind."""
    verdicts = Counter(record.verdict for record in records)
    perf = sum(record.kind is Kind.PERF for record in records)
    counted = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
    stated = f"; the ledger states no kind for {perf}, which are taken as perf" if perf else ""
    return f"{len(records)} records: {counted}{stated}" if records else "nothing to import"


def unread_lines(label: str, lines: Sequence[Unread]) -> list[str]:
    """Return `label` and below it a line for each of `lines`, which were left out of an import; [] if there are none."""
    shown = [
        " ".join((f"    line {each.line:<4} {plain_text(each.text)}  ({plain_text(each.why)})", *map(plain_text, each.options)))
        for each in lines
    ]
    return [f"  {label}", *shown] if shown else []


def proposed_lines(reading: ParsedLedger) -> list[str]:
    """Return what a person is asked about single lines, with the options that say it as it seems, and the share understood."""
    asked, read = reading.asked(), len(reading.rows)
    lines = [f"    line {each.line:<4} {plain_text(each.text)}  (the row of line {each.row})" for each in reading.again]
    lines = ["  told once more:", *lines] if lines else []
    proposed = {each.line for each in reading.proposals if each.options}
    shown: list[str] = []
    for (_, is_proposed), group in itertools.groupby(asked, key=lambda each: (each.below, each.line in proposed)):
        shown += _run_lines(list(group)) if is_proposed else []
    lines += ["  may be experiments:", *shown] if shown else []
    if asked:
        share = read / (read + len(asked))
        lines.append(f"  understood {read} of {read + len(asked)} lines that are or may be experiments ({share:.0%})")
        sure = sum(each.guess is not None for each in asked)
        taken = f"--map proposed takes the {sure} with a verdict; " if sure else ""
        lines.append(f'  {taken}--map "line N=VERDICT" and --map "lines N-M=VERDICT" say what the others are')
    return lines


def _run_lines(run: Sequence[Unread]) -> list[str]:
    """Return the lines for proposals below one heading, or in one table: those with one verdict below one option for all, and
    each by itself where it is not sure what they are.
    """
    shown: list[str] = []
    for guess, group in itertools.groupby(run, key=lambda each: each.guess):
        alike = list(group)
        if len(alike) >= RUN_MIN:
            one = f"    {lines_option(alike[0].line, alike[-1].line, guess)}  takes these {len(alike)}:"
            shown.append(one if guess else f'    each of these {len(alike)} by itself, --map "line N={VERDICT}":')
            shown += [f"      line {each.line:<4} {plain_text(each.text)}" for each in alike]
        else:
            shown += [f"    {each.options[0]:<27} {plain_text(each.text)}" for each in alike]
    return shown


def audit_lines(remarks: Sequence[Remark], roofline: str) -> list[str]:
    """Return the audit's remarks as text, one per line, below a heading. `roofline` says which peak figures were compared with,
    "" if no peak is known.
    """
    against = f"roofline {roofline}" if roofline else "no roofline known: --peak TFLOPS and --size n=8192:FLOP give one"
    lines = [f"audit    {len(remarks)} questions; {against}"]
    for remark in remarks:
        names = f" ({plain_text(', '.join(remark.rows))})" if remark.rows else ""
        lines.append(f"  {remark.key} line {remark.line:<4} {remark.flaw}{names}: {plain_text(remark.text)}")
    if remarks:
        lines.append("  each is a question; --accept KEY makes it a correction of the rows that it names")
    return lines
