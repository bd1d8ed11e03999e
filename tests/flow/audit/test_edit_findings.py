"""Findings in a world of fakes: what is committed, what is the same again, what is refused."""

import pytest

from expctl.adapters.records.findings_file import FindingsEditor
from expctl.domain.errors import Refused
from expctl.domain.experiment.finding import EvidenceKind, Finding
from expctl.flow.audit.edit_findings import Noted, add, contradict, supersede
from expctl.flow.run.experiment import run_experiment
from tests.fakes.stage import Stage
from tests.refusals import refuses

PEN = FindingsEditor()


def staged() -> Stage:
    """P1 was kept, P2 waits."""
    stage = Stage()
    stage.queue("P1", "slow 900000")
    run_experiment(stage.context(), "P1")
    stage.queue("P2", "slow 800000")
    return stage


def note(stage: Stage, text: str = "It is faster so.", *evidence: str, kind: EvidenceKind = EvidenceKind.MEASURED) -> Noted:
    return add(stage.context(), PEN, text=text, kind=kind, evidence=evidence or ("P1",))


def known(stage: Stage) -> tuple[Finding, ...]:
    return stage.library.findings(stage.workspace.head())


def test_a_finding_is_one_commit_of_its_file_and_the_ledger() -> None:
    stage = staged()
    before = stage.workspace.head()
    noted = note(stage)
    head = stage.workspace.head()
    assert (noted.commit, stage.workspace.parent(head)) == (head, before)
    changed = {file.path for file in stage.workspace.changed_files(before, head)}
    assert {"experiments/findings.yaml"} <= changed <= {"experiments/findings.yaml", "ledger.md"}
    assert [(each.id, each.evidence, each.since) for each in known(stage)] == [("F1", ("P1",), "2026-03-01")]
    assert not stage.locks.held


def test_the_same_again_changes_nothing() -> None:
    stage = staged()
    first = note(stage)
    head = stage.workspace.head()
    again = note(stage, "it is  FASTER so")
    assert (again.finding, again.commit) == (first.finding, "")
    with refuses("finding-said-already"):
        note(stage, "It is faster so.", "https://example.org", kind=EvidenceKind.EXTERNAL)
    other = note(stage, "Another.", "https://example.org", kind=EvidenceKind.EXTERNAL)
    supersede(stage.context(), PEN, "F1", "F2")
    marked = stage.workspace.head()
    assert supersede(stage.context(), PEN, "F1", other.finding.id).commit == ""
    assert stage.workspace.head() == marked != head


@pytest.mark.parametrize(
    ("evidence", "kind", "found"),
    [
        (("P2",), EvidenceKind.MEASURED, "P2: it has no record yet; expctl run P2 makes one"),
        (("P9",), EvidenceKind.STATIC, "P9: no such experiment"),
        (("https://example.org",), EvidenceKind.MEASURED, "https://example.org"),
    ],
)
def test_evidence_that_leads_nowhere_is_refused_and_nothing_is_committed(
    evidence: tuple[str, ...], kind: EvidenceKind, found: str
) -> None:
    stage = staged()
    head = stage.workspace.head()
    with pytest.raises(Refused) as caught:
        note(stage, "x", *evidence, kind=kind)
    assert caught.value.found == found
    assert caught.value.hint
    assert stage.workspace.head() == head


@pytest.mark.parametrize("since", ["tomorrow", "P99", "P2", "2026-02-30", "2026-03-02", "20260301", "\u200b"])
def test_since_is_a_day_that_has_been_or_an_experiment_with_a_record(since: str) -> None:
    stage = staged()
    head = stage.workspace.head()
    with pytest.raises(Refused) as caught:
        add(stage.context(), PEN, text="It is so.", kind=EvidenceKind.MEASURED, evidence=("P1",), since=since)
    assert (caught.value.code, stage.workspace.head()) == ("since-unknown", head)
    for good in ("P1", "2026-02-28", "2026-03-01"):
        noted = add(stage.context(), PEN, text=f"So {good}.", kind=EvidenceKind.MEASURED, evidence=("P1",), since=good)
        assert noted.finding.since == good


def test_marks() -> None:
    stage = staged()
    note(stage)
    note(stage, "Another.")
    contradict(stage.context(), PEN, "F1", "P1")
    supersede(stage.context(), PEN, "F1", "F2")
    first, second = known(stage)
    assert (first.contradicted_by, first.superseded_by, first.stands, second.stands) == ("P1", "F2", False, True)
    with refuses("finding-marked-already"):
        supersede(stage.context(), PEN, "F1", "P1")
    for by in ("F2", "F1"):
        with refuses("finding-against-itself"):
            supersede(stage.context(), PEN, "F2", by)
    with refuses("finding-unknown"):
        contradict(stage.context(), PEN, "F2", "F9")
    with refuses("evidence-leads-nowhere"):
        contradict(stage.context(), PEN, "F2", "P9")


def test_local_changes_of_the_file_are_never_written_over() -> None:
    stage = staged()
    stage.workspace.local_changes = ("experiments/findings.yaml",)
    with refuses("own-files-not-committed"):
        note(stage)
