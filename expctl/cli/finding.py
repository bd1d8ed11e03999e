"""The command `expctl finding`: record insights that outlive the experiment that showed them."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from expctl.flow.audit.edit_findings import Noted
    from expctl.ports.context import Context
    from expctl.ports.repository import FindingsEditor

finding = typer.Typer(invoke_without_command=True, rich_markup_mode=None)
PairedBy = Annotated[str, typer.Option(help="A finding (F7), an experiment, a commit or an address.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print facts as JSON.")]


@finding.callback()
def group(ctx: typer.Context) -> None:
    """Keep lessons that outlive the experiment that showed them: add, supersede, contradict, list."""
    if ctx.invoked_subcommand is None:
        print(ctx.get_help())


@finding.command(short_help="Commit a lesson with its evidence.")
def add(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What was found, in a sentence.")],
    kind: Annotated[str, typer.Option(help="Origin: measured, imported, external or static (a compiler's).")] = "measured",
    evidence: Annotated[
        list[str] | None, typer.Option(metavar="LINK", help="An experiment, a commit or an address; may be given again.")
    ] = None,
    since: Annotated[str, typer.Option(help="Since when this is known; default: today.")] = "",
    as_json: AsJson = False,
) -> None:
    """Commit a finding (a lesson from experiments) with its evidence. Adding it again changes nothing."""
    from expctl.domain.errors import Misused
    from expctl.domain.experiment.finding import EvidenceKind
    from expctl.domain.text import one_line
    from expctl.flow.audit.edit_findings import add as note

    if kind not in list(EvidenceKind):
        raise Misused(
            "--kind names no kind of evidence",
            code="unknown-evidence-kind",
            expected=", ".join(EvidenceKind),
            found=one_line(kind, 40),
            hint="expctl finding add TEXT --kind measured --evidence P16",
        )
    links = tuple(evidence or ())
    context, editor = _open()
    _tell(note(context, editor, text=text, kind=EvidenceKind(kind), evidence=links, since=one_line(since, 40)), as_json)


@finding.command(short_help="Record which finding replaces another.")
def supersede(
    which: Annotated[str, typer.Argument(metavar="ID", help="The older finding.")], by: PairedBy, as_json: AsJson = False
) -> None:
    """Record which finding replaces another. The old one stays in the ledger, below the valid ones."""
    from expctl.flow.audit.edit_findings import supersede as mark

    context, editor = _open()
    _tell(mark(context, editor, which, by), as_json)


@finding.command(short_help="Record what contradicts a finding.")
def contradict(
    which: Annotated[str, typer.Argument(metavar="ID", help="The older finding.")], by: PairedBy, as_json: AsJson = False
) -> None:
    """Record what contradicts a finding. Until one of the two is superseded, `expctl brief` lists it as an open question."""
    from expctl.flow.audit.edit_findings import contradict as mark

    context, editor = _open()
    _tell(mark(context, editor, which, by), as_json)


@finding.command(name="list", short_help="List all findings.")
def list_(as_json: AsJson = False) -> None:
    """List all findings, and for those that are no longer valid what replaced or contradicts them. Takes no lock."""
    from expctl import wiring
    from expctl.cli.output import print_result
    from expctl.views.ledger.findings import finding_lines

    git = wiring.reader(wiring.here())
    found = wiring.library(git).findings(git.head())
    print_result({"findings": found}, lambda: finding_lines(found), as_json, schema="finding-list/1")


def _open() -> "tuple[Context, FindingsEditor]":
    from expctl import wiring
    from expctl.views.console import ConsoleProgress

    return wiring.context(wiring.here(), ConsoleProgress()), wiring.findings_editor()


def _tell(noted: "Noted", as_json: bool) -> None:
    from expctl.cli.output import after, print_result
    from expctl.views.ledger.findings import noted_lines

    with after(f"{noted.finding.id} is committed"):
        print_result(noted, lambda: noted_lines(noted.finding, noted.commit), as_json, schema="finding/1")
