"""Which words name the same change, and what the audit then says of ids that stand twice."""

import pytest

from expctl.imported.audit.ledger import audit
from expctl.imported.audit.noise import Noise
from expctl.imported.likeness import may_be_the_same
from expctl.imported.remarks import Flaw, Remark
from expctl.imported.roofline import Roofline
from expctl.imported.rows import read_document
from expctl.imported.tables import read_document as document_of


def remarks(text: str, name: str = "a.md") -> list[Remark]:
    document = document_of(text.encode(), name)
    found = audit(document, read_document(document).rows, Roofline(), Noise(percent=0.5, source="the protocol"))
    return [remark for remark in found if remark.flaw is Flaw.REUSED_ID]


WIDTHS = ("wide", "narrow", "masked", "paired")
ROW = "| id | keep? | change |\n|---|---|---|\n| B4 | reject | Chrono merge of queues |\n\n"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Chronological merging (as others do)", "chrono merge", True),
        ("Unions by rank, via XOR", "XOR/GJ", True),
        ("Raise the worker's `MAX_LEN` by half", "`MAX_LEN` of 64, 3.64M peers", True),
        ("Session with `--no-wait`, again", "(`--no-wait`) - direct 6.58 s against 6.67 s", True),
        ("Raise what workers share through MAX_LEN by half", "`MAX_LEN` of 64: peers import nodes, clauses cost", True),
        ("Results", "Wider loads", True),
        ("Wider stores", "", True),
        ("Stage2 software pipeline without another count", "stage2 interleaved refill", False),
        ("Fold the bias into the epilogue", "Partition levels across workers", False),
        ("Use a faster path", "Make the kernel faster", True),
    ],
)
def test_whether_two_texts_may_speak_of_one_change(one: str, other: str, *, same: bool) -> None:
    assert may_be_the_same(one, other) is same


@pytest.mark.parametrize(
    ("heading", "asked"),
    [
        ("### B4. Chronological merging of two queues", False),
        ("### B4: Measurements", False),
        ("### B4. Fold the bias into the epilogue", True),
        ("### B4.1 - Fold the bias into the epilogue", False),
    ],
)
def test_a_heading_in_other_words_is_no_second_use_of_an_id(heading: str, *, asked: bool) -> None:
    assert bool(remarks(ROW + heading + "\n\nSome text.\n")) is asked


def test_a_section_that_names_the_change_below_its_heading_is_about_it() -> None:
    heading = "### B4. Fold the bias\n\n"
    assert remarks(ROW + heading + "Nothing of it.\n")
    assert not remarks(ROW + heading + "It needs the chrono merge of all queues.\n")


def test_many_headings_of_one_id_are_one_question() -> None:
    headings = "".join(f"### B4: {each}\n\ntext\n\n" for each in ("Fold the bias", "Spill registers", "Pack weights"))
    (found,) = remarks(ROW + headings)
    assert "so do 2 more headings" in found.text


def test_versions_with_a_point_are_no_ids() -> None:
    heads = "## v2.3-A: pinned buffers (reverted)\n\ntext\n\n"
    assert not remarks(heads + "## v2.4: hashed routing\n\ntext\n\n## v2.9: many workers (kept)\n\ntext\n")
    document = document_of(heads.encode(), "a.md")
    assert [(row.name, row.change) for row in read_document(document).rows] == [("", "v2.3-A: pinned buffers")]


def test_the_name_of_a_series_is_no_id() -> None:
    line = "{}\t3.{}\tkeep\tchange number {}"
    few = "\n".join(["id\tms\tstatus\tchange", *(line.format("T1", at, at) for at in range(2))])
    assert [remark.rows for remark in remarks(few, "a.tsv")] == [("T1",)]
    many = "\n".join(["id\tms\tstatus\tchange", *(line.format("T1", at, at) for at in range(5))])
    assert not remarks(many, "a.tsv")
    dashes = "\n".join(["id\tms\tstatus\tchange", *(line.format("-----", at, at) for at in range(2))])
    assert not remarks(dashes, "a.tsv")


def test_bullets_in_one_section_that_vary_one_change_share_its_id() -> None:
    bullet = "- **E6 at `MAX_LEN` {}**: 3 ms. **Rejected**\n"
    assert not remarks("## Results of experiments\n\n" + bullet.format(64) + bullet.format(32))


TWO_ROWS = "| id | keep? | change |\n|---|---|---|\n| B{0} | keep | change {0} of one kind |\n| B{1} | keep | work {1} |\n"


def test_an_id_inside_a_longer_name_is_another() -> None:
    assert remarks(ROW + "### B4 - Fold the bias into the epilogue\n\ntext\n")
    assert not remarks(ROW + "### B4-TAR: Fold the bias into the epilogue\n\ntext\n")


def test_tables_that_count_anew_share_no_ids() -> None:
    heads = "| id | keep? | change |\n|---|---|---|\n"
    first = heads + "".join(f"| B{at} | keep | partition levels across workers |\n" for at in range(3))
    anew = heads + "".join(f"| B{at} | keep | spill registers early |\n" for at in range(3))
    assert not remarks(first + "\ntext\n\n" + anew)
    assert [remark.rows for remark in remarks(TWO_ROWS.format(*"01") + "\ntext\n\n" + TWO_ROWS.format(*"12"))] == [("B1",)]
    few = heads + "".join(f"| B{at} | keep | spill registers early |\n" for at in range(1, 7))
    many = heads + "".join(f"| B{at} | keep | partition levels across workers |\n" for at in (*range(1, 3), *range(10, 14)))
    assert [remark.rows for remark in remarks(many + "\ntext\n\n" + few)] == [("B1", "B2")]


@pytest.mark.parametrize(("between", "asked"), [(0, True), (1, True), (2, False), (5, False)])
def test_a_number_that_comes_again_much_later_began_anew(between: int, *, asked: bool) -> None:
    names = ["14", *(str(20 + at) for at in range(between)), "14"]
    lines = [f"{name}\t3.{at}\tkeep\tchange of kind {at}" for at, name in enumerate(names)]
    assert bool(remarks("\n".join(["id\tms\tstatus\tchange", *lines]), "a.tsv")) is asked


def test_ids_of_a_series_of_variants() -> None:
    rows = "".join(f"| E{at} | {word} loads | keep |\n| E{at} | {word} stores | reject |\n" for at, word in enumerate(WIDTHS))
    heads = "| ID | Change | Verdict |\n|---|---|---|\n"
    assert not remarks(heads + rows)
    alone = "".join(f"| F{at} | {word} tiles | keep |\n" for at, word in enumerate(WIDTHS * 5))
    assert len(remarks(heads + rows + alone)) == len(WIDTHS)


def test_headings_that_begin_with_what_is_changed() -> None:
    assert not remarks("# Log\n\n## L11 deep trees — rejected\n\n3 % slower.\n\n## L11 window of 64 MB — kept\n\n2 % faster.\n")
    assert remarks("# Log\n\n## L11: deep trees — rejected\n\n3 % slower.\n\n## L11: window of 64 MB — kept\n\n2 % faster.\n")


def test_a_heading_of_two() -> None:
    assert not remarks("# Log\n\n## P1: shorter labels\n\nTo do.\n\n## P1 and P2 progress\n\nTwo builds. Reverted.\n")


FIRST = "# Log\n| id | change | outcome |\n|---|---|---|\n| A1 | wider loads | kept |\n| A2 | deeper tile | reverted |\n"
THEN = "\n## All of them\n| id | what | result | verdict |\n|---|---|---|---|\n"


def lines_of(text: str) -> tuple[list[int], list[tuple[int, int]]]:
    found = read_document(document_of(text.encode(), "a.md"))
    return [row.line for row in found.rows], [(each.line, each.row) for each in found.again]


def test_a_table_that_repeats_ids_changes_and_verdicts_tells_of_the_same_experiments() -> None:
    same = "| A2 | the deeper tile | 4 ms | reverted |\n| A1 | wider loads | 2 ms | kept |\n| A3 | a loop | 1 ms | kept |\n"
    assert lines_of(f"{FIRST}{THEN}{same}") == ([4, 5, 12], [(10, 5), (11, 4)])
    other = "| A2 | the deeper tile | 4 ms | kept |\n| A1 | wider loads | 2 ms | kept |\n"
    assert lines_of(f"{FIRST}{THEN}{other}") == ([4, 5, 10], [(11, 4)]), "another verdict is not told once more"


def test_a_table_that_counts_anew_tells_of_others() -> None:
    anew = "| A1 | fused epilogue | 4 ms | kept |\n| A2 | split-k | 2 ms | reverted |\n"
    assert lines_of(f"{FIRST}{THEN}{anew}") == ([4, 5, 10, 11], [])
    numbers = "| # | change | verdict |\n|---|---|---|\n| 1 | wider loads | kept |\n"
    assert lines_of(f"# Log\n{numbers}\n## Later\n{numbers}") == ([4, 9], [])


SECTIONS = "".join(
    f"## Kept: {title}\n3 ms\n" for title in ("vector loads of rows", "exact intra4 prediction", "a threaded parser")
)


def test_a_table_without_ids_that_sums_up_sections_tells_of_them_once_more() -> None:
    head = "# Log\n## Kept improvements\n| improvement | result |\n|---|---|\n"
    rows = (
        "| vector row loads | 1.1x |\n| intra4 prediction | 1.2x |\n| threaded parser | 1.3x |\n| intra16 prediction | 1.4x |\n"
    )
    assert lines_of(f"{head}{rows}{SECTIONS}") == ([8, 9, 11, 13], [(5, 9), (6, 11), (7, 13)])
    others = "| wider tile | 1.1x |\n| vector row loads | 1.2x |\n| split-k | 1.3x |\n"
    assert lines_of(f"{head}{others}{SECTIONS}") == ([5, 6, 7, 8, 10, 12], []), "most rows are of no section"
