"""The command `expctl import`: import a ledger that was kept by hand, and audit it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from expctl.flow.import_ledger import Plan
    from expctl.imported.given import Given

BYTES_MAX = 16_000_000


def import_ledger(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Markdown with tables, results.tsv or .csv.")],
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Show what is understood, what is not, and the audit; change nothing, end as the import would."
        ),
    ] = False,
    target: Annotated[
        str, typer.Option(metavar="NAME", help="Where it was measured: gfx1151, sm_90, ... if the title doesn't say.")
    ] = "",
    peak: Annotated[
        float, typer.Option(metavar="TFLOPS", help="Peak of that machine, for the audit; the protocol's otherwise.")
    ] = 0.0,
    size: Annotated[
        list[str] | None, typer.Option(metavar="n=8192:FLOP", help="Work of one iteration at a size, for the audit.")
    ] = None,
    noise: Annotated[
        float | None, typer.Option(metavar="PERCENT", help="Noise of the measurements, where the ledger states none.")
    ] = None,
    renumber: Annotated[bool, typer.Option("--renumber", help="Give rows whose id is taken the next free numbers.")] = False,
    maps: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="ROLE=HEAD|WORDS=VERDICT|line N=VERDICT|proposed",
            help="What a column holds, what its words mean, what a line is, or: all is as proposed; is kept.",
        ),
    ] = None,
    unit: Annotated[
        list[str] | None, typer.Option(metavar="UNIT=higher|lower", help="Which direction of a unit is better; is kept.")
    ] = None,
    accept: Annotated[
        list[str] | None, typer.Option(metavar="KEY", help="Make a remark of the audit a correction of its rows.")
    ] = None,
    doubtful: Annotated[
        bool, typer.Option("--doubtful", help="Ask also about kept rows that are only worse than the row kept before them.")
    ] = False,
    partial: Annotated[bool, typer.Option("--partial", help="Leave out rows that can't be read.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON.")] = False,
) -> None:
    """Turn the rows of a hand-kept ledger into records, marked as imported; list what is doubtful about figures (the audit).
    Texts are copied unchanged, and what a row doesn't say stays empty. Importing the same file again adds only new rows.
    """
    import shlex
    import sys

    from expctl import wiring
    from expctl.cli.output import after, print_result
    from expctl.files.user_file import contents
    from expctl.flow.import_ledger import Options, check_dry, plan_import
    from expctl.flow.import_ledger import import_ledger as take_in
    from expctl.imported.given import given_by, ranges_of
    from expctl.imported.tables import read_document
    from expctl.views.console import ConsoleProgress

    _check_numbers(peak, noise)
    document = read_document(contents(file, "the ledger", bytes_max=BYTES_MAX), str(file))
    before = _kept(file)
    given = given_by(before, maps or [], unit or [], document)
    taken = list(ranges_of(maps or [], given, document))
    options = Options(
        target=target,
        peak_tflops=peak,
        flop=_sizes(size or []),
        noise_percent=noise,
        renumber=renumber,
        partial=partial,
        given=given,
        accept=tuple(accept or ()),
        doubtful=doubtful,
        command=f"expctl {shlex.join(sys.argv[1:])}",
    )
    place = wiring.here()
    if dry_run:
        git = wiring.reader(place)
        plan = plan_import(wiring.library(git), git.head(), document, options)
        lines = [*taken, *_plan_lines(plan), "nothing was changed (--dry-run)"]
        print_result(plan, lambda: lines, as_json, schema="import-plan/1")
        sys.stdout.flush()  # standard error follows
        check_dry(plan, options)
        return
    done = take_in(wiring.context(place, ConsoleProgress(sys.stderr)), document, options)
    if given != before:
        _keep(file, given)
    ended = f"is imported in {done.commit[:7]}" if done.commit else "was imported before: nothing to add"
    lines = [*taken, *_plan_lines(done.plan), f"{done.plan.file} {ended}"]
    with after(f"{done.plan.file} {ended}"):
        print_result(done, lambda: lines, as_json, schema="import/1")


def _plan_lines(plan: "Plan") -> list[str]:
    from expctl.imported.terminal import audit_lines, proposed_lines, record_lines, split_lines, summary_line, unread_lines

    reading = plan.reading
    foreign = " (protocol.yaml has none of this name)" if plan.target and not plan.is_own_target else ""
    return [
        f"{plan.file}  target {plan.target or 'not stated (--target NAME)'}{foreign}",
        *(f"  read     {words}" for words in reading.columns),
        *record_lines(plan.records, plan.naming),
        *split_lines(plan.naming),
        f"  {summary_line(plan.records)}",
        *unread_lines("not understood:", reading.unread),
        *proposed_lines(reading),
        *unread_lines("not concluded, so not imported:", reading.waiting),
        *unread_lines("no ledger:", reading.skipped_tables),
        *unread_lines("do-not-repeat lines without a row:", plan.unruled),
        *audit_lines(plan.remarks, plan.roofline),
    ]


def _kept(file: Path) -> "Given":
    """Return what an earlier import was told about the ledger `file`, kept beside it. Raises Refused for a damaged file."""
    from expctl.adapters.codec.strict_yaml import load
    from expctl.files.user_file import contents
    from expctl.imported.given import SUFFIX, Given

    beside = file.with_name(file.name + SUFFIX)
    if str(file) == "-" or not beside.is_file():
        return Given()
    return load(contents(beside, "what is known of the ledger", bytes_max=BYTES_MAX), Given, where=str(beside))


def _keep(file: Path, given: "Given") -> None:
    import yaml

    from expctl.files import atomic_write
    from expctl.imported.given import SUFFIX

    if str(file) == "-":
        return
    said = {"columns": given.columns, "verdicts": given.verdicts, "lines": given.lines, "units": given.units}
    text = yaml.safe_dump({name: part for name, part in said.items() if part}, allow_unicode=True, sort_keys=False)
    atomic_write.replace_for_user(file.with_name(file.name + SUFFIX), text.encode())


def _check_numbers(peak: float, noise: float | None) -> None:
    import math

    from expctl.domain.errors import Misused

    for name, value in (("--peak", peak), ("--noise", noise or 0.0)):
        if not math.isfinite(value) or value < 0:
            raise Misused(
                f"{name} is out of range",
                code="figure-out-of-range",
                expected="a finite number, 0 or more",
                found=str(value),
                hint="expctl import FILE --dry-run --peak 59.4 --noise 0.5",
            )


def _sizes(words: list[str]) -> dict[str, int]:
    """Return size -> FLOP of one iteration, from `words` such as `n=8192:1099511627776`. Raises Misused for a bad word."""
    from expctl.domain.errors import Misused

    sizes = {}
    for word in words:
        name, colon, flop = word.rpartition(":")
        if not colon or not name or not flop.isascii() or not flop.isdecimal():
            raise Misused(
                "--size does not give a size and its work",
                code="size-without-work",
                expected="NAME:FLOP, the size's name and its floating-point operations",
                found=word,
                hint="expctl import FILE --dry-run --size n=8192:1099511627776",
            )
        sizes[name] = int(flop)
    return sizes
