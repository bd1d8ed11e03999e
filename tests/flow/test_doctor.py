"""What the doctor says of records that are gone is a command."""

import pytest

from expctl.domain.checkup import Finding
from expctl.flow.doctor import committed_findings
from tests.fakes.stage import Stage


@pytest.mark.parametrize(
    ("commit", "mend"),
    [
        ("1" * 40, "git checkout 111111111111 -- experiments/P1 && git commit -m 'Restore P1' -- experiments/P1"),
        ("", "git log -- experiments/P1 has the commits; git checkout COMMIT -- experiments/P1 restores one, then commit it"),
    ],
)
def test_a_record_that_is_gone_is_restored_from_the_commit_that_had_it(commit: str, mend: str) -> None:
    assert [each.mend for each in findings(commit) if each.part == "records"] == [mend]


def test_a_record_that_is_sound_is_not_restored() -> None:
    assert [each.mend for each in findings("1" * 40, mend="fetch it") if each.part == "records"] == ["fetch it"]


def test_what_writes_the_ledger_is_said_as_it_is_given() -> None:
    assert [each.mend for each in findings("") if each.part == "ledger"] == ["rm it"]


def test_a_scope_that_is_not_committed_is_wrong() -> None:
    assert [each.what for each in findings("", "src") if each.part == "scope"] == [
        "src, which protocol.yaml names, is not in the commit HEAD"
    ]
    assert not [each for each in findings("") if each.part in ("scope", "harness")]


def findings(commit: str, *absent: str, mend: str = "") -> list[Finding]:
    stage = Stage()
    context = stage.context()
    found = committed_findings(
        context.library,
        stage.workspace.head(),
        history=frozenset(),
        contradicted=lambda: (("P1", "there are samples and no record", mend),),
        record_was=lambda _: commit,
        ledger_is=lambda _: False,
        ledger_mend="rm it",
        has_files=lambda name: name not in absent,
    )
    return list(found)
