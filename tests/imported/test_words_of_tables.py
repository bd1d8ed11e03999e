"""Words and columns of tables that others keep: statuses, marks, ids, rules for a decision; what is left to be asked."""

import pytest

from expctl.domain.experiment.proposal import Verdict
from expctl.imported.rows import read_document
from expctl.imported.tables import read_document as document_of
from expctl.imported.verdicts import Pending, rulings

KEEP, REJECT = Verdict.KEEP, Verdict.REJECT


def read(text: str) -> list[tuple[str, str, Verdict]]:
    reading = read_document(document_of(text.encode(), "a.md"))
    return [(row.name, row.change, ruling.verdict) for row in reading.rows for ruling in row.rulings]


def table(heads: str, *rows: str) -> str:
    return "\n".join([heads, "|---" * (heads.count("|") - 1) + "|", *rows]) + "\n"


def lines(*rows: str) -> list[tuple[str, str, Verdict]]:
    reading = read_document(document_of(("\n".join(rows) + "\n").encode(), "a.tsv"))
    return [(row.name, row.change, ruling.verdict) for row in reading.rows for ruling in row.rulings]


@pytest.mark.parametrize(
    ("cell", "verdict"),
    [
        ("mixed but kept", KEEP),
        ("neutral, reverted", REJECT),
        ("rejected. 3 % slower, retained frames grew", REJECT),
        ("No-Go", REJECT),
        ("❌ OOM by 507 MiB", Verdict.INVALID),
        ("correctness_fail", Verdict.INVALID),
        ("correctness failure", Verdict.INVALID),
        ("failed correctness", Verdict.INVALID),
    ],
)
def test_cells_with_a_verdict(cell: str, verdict: Verdict) -> None:
    found = rulings(cell)
    assert isinstance(found, tuple)
    assert [each.verdict for each in found] == [verdict]


@pytest.mark.parametrize(
    "cell",
    [
        "Ship if correct",
        "accept only with zero copies",
        "No-Go except behind a flag",
        "Kept as a gated reference",
        "best yet; the last run was killed by a lost link",
        "killed by user",
        "drop_path 0.2",
    ],
)
def test_cells_that_state_none(cell: str) -> None:
    assert not isinstance(rulings(cell), tuple)


def test_statuses_of_joined_words() -> None:
    heads = "iter\tstatus\tchange\tms"
    rows = ("1\tdiscard_timing\twider loads\t3", "2\tdiscard_size\tmore stages\t4", "3\tkeep\ta carry\t2")
    assert lines(heads, *rows) == [("1", "wider loads", REJECT), ("2", "more stages", REJECT), ("3", "a carry", KEEP)]


def test_bits_below_kept_are_verdicts() -> None:
    assert lines("id\tchange\tloss\tkept", "a1\twider\t0.3\t1", "a2\tdeeper\t0.4\t0") == [
        ("a1", "wider", KEEP),
        ("a2", "deeper", REJECT),
    ]
    assert lines("id\tchange\tloss\tvalid", "a1\twider\t0.3\t1", "a2\tdeeper\t0.4\t0") == []


def test_a_few_pure_decisions_among_open_rows_make_a_ledger() -> None:
    shown = ("🟢 shipped", "❌ killed", "🎯 open", "🔵 elsewhere", "⚪ idea", "🟡 drawn")
    rows = [f"| E{at} | change {at} | {status} |" for at, status in enumerate(shown)]
    assert read(table("| ID | Change | Status |", *rows)) == [("E0", "change 0", KEEP), ("E1", "change 1", REJECT)]
    plain = ["| wider | neutral | 3 ms |", "| deeper | failed | 4 ms |", "| taller | fine | 5 ms |", "| lower | good | |"]
    assert read(table("| Name | Status | Time |", *plain)) == []


def test_marks_are_verdicts_only_of_what_was_tried() -> None:
    rows = ("| wider loads | 3 ms | ✅ |", "| more stages | 4 ms | ❌ |")
    assert [verdict for _, _, verdict in read(table("| Change | Time | Status |", *rows))] == [KEEP, REJECT]
    assert read(table("| Query | Time | Status |", *rows)) == []


def test_ids_by_number_before_ids_by_commit() -> None:
    heads = "| # | Commit | Change | Verdict |"
    assert [
        name for name, _, _ in read(table(heads, "| 1 | 1a2b3c4 | wider | kept |", "| 2 | 1a2b3c5 | more | reverted |"))
    ] == [
        "1",
        "2",
    ]
    heads = "candidate_id\tvalid\tdecision\twhat"
    assert lines(heads, "c-1\ttrue\tkeep\twider loads", "c-2\tfalse\treject\tmore stages") == [
        ("c-1", "wider loads", KEEP),
        ("c-2", "more stages", REJECT),
    ]
    heads = "tag\tdecision\twhat"
    assert [name for name, _, _ in lines(heads, "w1\tkeep\twider loads", "m1\treject\tmore stages")] == ["w1", "m1"]


def test_words_for_nothing_and_figures_are_no_ids() -> None:
    heads = "commit\tloss\tstatus\tdescription"
    assert [name for name, _, _ in lines(heads, "none\t0.3\tkeep\twider", "N/A\t0.4\tdiscard\tdeeper")] == ["", ""]
    heads = "when\tstatus\tS\tdescription"
    assert [name for name, _, _ in lines(heads, "a\tkeep\t0.80\twider loads", "b\tdiscard\t0.81\tmore stages")] == ["", ""]
    heads = "when\tstatus\tH\tdescription"
    assert [name for name, _, _ in lines(heads, "a\tkeep\tH1\twider loads", "b\tdiscard\tH2\tmore stages")] == ["H1", "H2"]


def test_crash_is_a_verdict_beside_others_and_done_waits_for_none() -> None:
    heads = "commit\tms\tstatus\tdescription"
    rows = ("a1b2c3d\t3\tkeep\twider", "a1b2c3e\t0\tcrash\tdeeper", "a1b2c3f\t4\tdone\ta rerun", "a1b2c40\t4\tdiscard\tmore")
    assert [verdict for _, _, verdict in lines(heads, *rows)] == [KEEP, Verdict.INVALID, REJECT]


@pytest.mark.parametrize(
    ("cell", "verdict"),
    [
        ("Never committed (the branch is clean)", Verdict.REJECT),
        ("Ported and kept", Verdict.KEEP),
        ("Ported and rejected: too slow", Verdict.REJECT),
        ("keep-candidate", None),
        ("Fail-closed", None),
        ("**KILL** (this layout)", REJECT),
        ("kill-switch", None),
        ("Promote as the default", KEEP),
        ("Not promoted; retained as historical code", REJECT),
        ("Inconclusive, not promoted", Verdict.INCONCLUSIVE),
        ("Four lanes for all; reject wider stores", None),
        ("Four lanes for all, so reject it", REJECT),
        ("dead: it saves one pass in a million", REJECT),
        ("dead rows fill the list", None),
        ("keep -O3", None),
        ("**keep --pack 1**", None),
        ("kept the old loop", None),
        ("kept as is", None),
        ("half kept", None),
        ("needs a rerun before it is kept", None),
    ],
)
def test_words_of_others(cell: str, verdict: Verdict | None) -> None:
    found = rulings(cell)
    assert (found[0].verdict if isinstance(found, tuple) else None) is verdict


def test_two_variants_of_which_one_is_kept_have_no_verdict_together() -> None:
    assert rulings("Promote four lanes; reject wider stores") is None
    found = rulings("REJECT config / KEEP infra")
    assert isinstance(found, tuple)
    assert [each.verdict for each in found] == [REJECT, KEEP]


@pytest.mark.parametrize("cell", ["✅ done", "✅ exact", "✅ active", "✅ calibration of the clock"])
def test_a_check_mark_before_words_that_decide_nothing_is_none(cell: str) -> None:
    assert rulings(cell) is None


@pytest.mark.parametrize("cell", ["✅", "✅ +3 %", "✅ kept", "✅ a win", "✅ (two runs)"])
def test_a_check_mark_alone_or_beside_a_gain_is_one(cell: str) -> None:
    found = rulings(cell)
    assert isinstance(found, tuple)
    assert found[0].verdict is KEEP


@pytest.mark.parametrize("cell", ["baseline", "Baseline (stock config)", "the baseline"])
def test_a_baseline_is_no_change(cell: str) -> None:
    assert rulings(cell) is Pending.BASELINE


def test_what_a_bullet_keeps_as_before_is_no_verdict() -> None:
    bullet = "# Log\n\n## Experiments\n\n- Sorted the ideas of the review.\n  Kept {} as the main lane.\n"
    assert not read_document(document_of(bullet.format("hash-like signals").encode(), "a.md")).rows
    assert read_document(document_of(b"# Log\n\n## Experiments\n\n- Sorted the queues.\n  Kept. 3 ms.\n", "a.md")).rows


@pytest.mark.parametrize(
    ("cell", "verdict"),
    [
        ("Committed as `1a2b3c4`, reverted in `5d6e7f8`", REJECT),
        ("Merged, then rolled back", REJECT),
        ("Landed (later reverted by the author)", REJECT),
        ("Merged, reverted the old default", None),
        ("Committed as `1a2b3c4`, reverted in `5d6e7f8`; landed again", None),
        ("Kept, reverted in one file", None),
    ],
)
def test_what_was_taken_out_again(cell: str, verdict: Verdict | None) -> None:
    found = rulings(cell)
    assert (found[0].verdict if isinstance(found, tuple) else None) is verdict


def test_a_mark_beside_a_claim_says_whether_it_is_true() -> None:
    rows = ("| the lanes wait | ✅ 3 ms: true |", "| the queue is full | ❌ measured: never |")
    assert read(table("| Claim | Verdict |", *rows)) == []
    assert [verdict for _, _, verdict in read(table("| Change | Verdict |", *rows))] == [KEEP, REJECT]
    decided = ("| the lanes wait | rejected |", "| the queue is full | kept |")
    assert [verdict for _, _, verdict in read(table("| Question | Verdict |", *decided))] == [REJECT, KEEP]


def test_a_row_without_a_word_is_a_template() -> None:
    assert read(table("| Item | Status | Delta |", "| … | kept/reverted | …% |", "| wider loads | kept | 3 % |")) == [
        ("", "wider loads", KEEP)
    ]
