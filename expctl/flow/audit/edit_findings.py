"""Add a finding (an insight with its evidence), or mark one as superseded or contradicted, each in one commit."""

from dataclasses import dataclass
from datetime import date

from msgspec.structs import replace

from expctl.domain.errors import Refused
from expctl.domain.experiment.finding import EvidenceKind, Finding
from expctl.domain.experiment.findings import COMMIT, FINDING_ID, TEXT_MAX, alike, by_id, leads_back, next_id, unknown_evidence
from expctl.domain.experiment.ids import ID_PATTERN
from expctl.domain.experiment.record import Origin
from expctl.domain.text import one_line, plain_text
from expctl.flow.repository import preflight
from expctl.flow.repository.commit_messages import finding_message
from expctl.flow.repository.ledger_inputs import read_ledger_inputs
from expctl.flow.repository.recovery import publishing
from expctl.ports.context import Context
from expctl.ports.repository import FindingsEditor

FILE = "findings.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """A finding after a command added or marked it, and the commit that did so; the commit is "" if nothing had to change."""

    finding: Finding
    commit: str


def add(
    context: Context, editor: FindingsEditor, *, text: str, kind: EvidenceKind, evidence: tuple[str, ...], since: str = ""
) -> Noted:
    """Commit a new finding, in at most TEXT_MAX characters; return the existing one if it says the same. `since` is an
    experiment or an ISO date, "" for today. Raises Refused on unknown evidence, an unknown `since` or a bad text.
    """
    words = plain_text(text)
    if not words or len(words) > TEXT_MAX:
        raise Refused(
            "the text of the finding is empty or too long",
            code="finding-length",
            expected=f"a sentence of 1 to {TEXT_MAX} characters",
            found=f"{len(words)} characters",
            hint="expctl finding add 'what was learned' --kind measured --evidence P16",
        )
    with publishing(context, "finding") as head:
        known = context.library.findings(head)
        same = alike(known, words)
        if same is not None:
            _check_same(same, kind, evidence)
            return Noted(finding=same, commit="")
        _check_evidence(context, head, evidence, kind)
        _check_since(context, head, since)
        finding = Finding(
            id=next_id(known),
            text=words,
            since=since or context.clock.date()[:10],
            kind=kind,
            evidence=tuple(dict.fromkeys(evidence)),
        )
        contents = editor.added(context.library.findings_text(head), finding)
        return _publish(context, head, contents, finding, (*known, finding), "Add")


def supersede(context: Context, editor: FindingsEditor, finding: str, by: str) -> Noted:
    """Mark `finding` as superseded by `by`, a finding or evidence. Raises Refused if it is marked already."""
    return _mark(context, editor, finding, by, "Supersede")


def contradict(context: Context, editor: FindingsEditor, finding: str, by: str) -> Noted:
    """Mark `finding` as contradicted by `by`, a finding or evidence. Raises Refused if it is marked already."""
    return _mark(context, editor, finding, by, "Contradict")


def _mark(context: Context, editor: FindingsEditor, finding: str, by: str, verb: str) -> Noted:
    supersedes = verb == "Supersede"
    with publishing(context, "finding") as head:
        known = context.library.findings(head)
        was = by_id(known, finding)
        before = was.superseded_by if supersedes else was.contradicted_by
        if before == by:
            return Noted(finding=was, commit="")
        if before:
            raise Refused(
                f"{finding} is already marked as superseded or contradicted",
                code="finding-marked-already",
                expected="a finding without such a mark",
                found=f"{'superseded' if supersedes else 'contradicted'} by {before}",
                hint=f"expctl finding add 'what is known' ..., then expctl finding {verb.lower()} {before} --by ID, its id"
                if FINDING_ID.fullmatch(before)
                else "expctl finding list",
            )
        if FINDING_ID.fullmatch(by):
            by_id(known, by)
            if by == finding or (supersedes and leads_back(known, finding, by)):
                raise Refused(
                    f"{finding} would {verb.lower()} itself",
                    code="finding-against-itself",
                    expected=f"--by another finding, one that was not superseded by {finding}",
                    found=by,
                    hint="expctl finding list",
                )
        else:
            _check_evidence(context, head, (by,), None)
        now = replace(was, superseded_by=by) if supersedes else replace(was, contradicted_by=by)
        contents = editor.marked(context.library.findings_text(head), now)
        return _publish(context, head, contents, now, tuple(now if each.id == finding else each for each in known), verb)


def _check_same(same: Finding, kind: EvidenceKind, evidence: tuple[str, ...]) -> None:
    if same.kind is not kind or not set(evidence) <= set(same.evidence):
        raise Refused(
            f"{same.id} says this already, but with another kind or other evidence",
            code="finding-said-already",
            expected=f"kind {same.kind}, evidence {', '.join(same.evidence) or 'none'}",
            found=f"kind {kind}, evidence {', '.join(evidence) or 'none'}",
            where="experiments/findings.yaml",
            hint=f"expctl finding add 'what the evidence adds' ..., then expctl finding supersede {same.id} --by ID, its id",
        )


def _check_evidence(context: Context, head: str, evidence: tuple[str, ...], kind: EvidenceKind | None) -> None:
    concluded = {name: verdict is not None for name, verdict in context.library.experiments(head).items()}
    commits = [link for link in evidence if COMMIT.fullmatch(link) and context.workspace.is_commit(link)]
    faults = unknown_evidence(evidence, concluded=concluded, commits=commits)
    if faults:
        raise Refused(
            "some of the evidence can't be found",
            code="evidence-leads-nowhere",
            expected="experiments with a record, commits of this repository (7 to 40 hex digits) or http(s) addresses",
            found="\n".join(faults),
            hint="expctl status lists the experiments",
        )
    named = context.library.some_records(head, [link for link in evidence if ID_PATTERN.fullmatch(link)])
    measured = [record.id for record in named.values() if record.origin is Origin.MEASURED]
    if kind is EvidenceKind.MEASURED and not measured:
        raise Refused(
            "a measured finding needs a measurement",
            code="evidence-not-measured",
            expected="--evidence with an experiment that expctl measured",
            found=", ".join(evidence) or "no evidence",
            hint="--evidence P16; or --kind imported, external or static, whichever it is",
        )


def _check_since(context: Context, head: str, since: str) -> None:
    """Raise Refused unless `since` is "", an ISO date up to today or an experiment with a record."""
    if not since or context.library.experiments(head).get(since) is not None:
        return
    try:
        known = len(since) == len("2026-01-01") and date.fromisoformat(since).isoformat() <= context.clock.date()[:10]
    except ValueError:
        known = False
    if not known:
        raise Refused(
            "--since is neither an experiment nor a day",
            code="since-unknown",
            expected="an experiment that has a record, or a day up to today such as 2026-02-18",
            found=one_line(since, 40),
            where="--since",
            hint="leave --since out for today; expctl status lists the experiments",
        )


def _publish(context: Context, head: str, contents: bytes, finding: Finding, findings: tuple[Finding, ...], verb: str) -> Noted:
    branch = preflight.check_workspace(context.workspace, (), FILE)
    ledger = replace(read_ledger_inputs(context.library, head), findings=findings).ledger()
    files = {f"experiments/{FILE}": contents, "ledger.md": context.render(ledger).encode()}
    message = finding_message(finding, verb)
    commit = context.workspace.commit_files(parent=head, files=files, message=message, date=context.clock.date())
    if not context.workspace.publish(branch=branch, old=head, new=commit):
        raise preflight.moved_meanwhile(context.workspace, head)
    return Noted(finding=finding, commit=commit)
