"""The audit asks about rows that stand in a ledger twice, ids inside the range of another row, and ids that are missing."""

import pytest

from expctl.imported.audit.ledger import audit
from expctl.imported.remarks import Flaw
from expctl.imported.roofline import Roofline
from expctl.imported.rows import read_document
from expctl.imported.tables import read_document as document_of

HEAD = "# Log\n| id | change | ms | verdict |\n|---|---|---|---|\n"


def asked(text: str) -> list[tuple[Flaw, int]]:
    document = document_of(text.encode(), "a.md")
    return [(each.flaw, each.line) for each in audit(document, read_document(document).rows, Roofline(), None)]


FIRST = "| 1 | wide loads | 91.25 | rejected |\n"


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("| 2 | wide loads | 91.25 | rejected |\n", True),
        ("| 2 | Wide loads | 91.25 | rejected |\n", True),
        ("| 2 | wide loads | 91.26 | rejected |\n", False),
        ("| 2 | wider loads | 91.25 | rejected |\n", False),
    ],
)
def test_a_row_with_the_change_and_the_figures_of_another_is_asked_about(row: str, *, told: bool) -> None:
    assert asked(HEAD + FIRST + row) == [(Flaw.TWICE, 5)] * told


def test_short_figures_may_be_alike_and_many_equal_rows_are_something_else() -> None:
    assert asked((HEAD + FIRST + FIRST.replace("1", "2", 1)).replace("91.25", "9.1")) == []
    assert asked((HEAD + FIRST + FIRST.replace("1", "2", 1)).replace("wide loads", "rerun of wide loads")) == []
    assert asked((HEAD + FIRST + FIRST.replace("1", "2", 1)).replace("wide loads", "baseline of tiles")) == []
    assert asked(HEAD + "".join(FIRST.replace("1", str(number), 1) for number in range(1, 7))) == []


def test_a_row_of_another_time_is_another_run() -> None:
    heads, rule = HEAD.splitlines()[-2:]
    timed = HEAD.replace(heads, f"{heads} at |").replace(rule, f"{rule}---|")
    for second, told in (("18:09", True), ("19:03", False)):
        rows = f"{FIRST.strip()} 18:09 |\n{FIRST.replace('1', '2', 1).strip()} {second} |\n"
        assert asked(timed + rows) == [(Flaw.TWICE, 5)] * told


@pytest.mark.parametrize(("name", "told"), [("96", True), ("90", True), ("98", False), ("E96", False), ("96b", False)])
def test_an_id_inside_the_range_of_another_row_is_used_twice(name: str, *, told: bool) -> None:
    rows = f"| 90-97 | tiles, loads | ~9.1 | rejected |\n| {name} | four tiles | 9.0 | kept |\n"
    assert asked(HEAD + rows) == [(Flaw.REUSED_ID, 5)] * told


def log(*numbers: int) -> str:
    return HEAD + "".join(f"| A{number} | change number {number} | {100 - number} | kept |\n" for number in numbers)


def test_ids_that_are_left_out_and_stand_nowhere_are_asked_about() -> None:
    assert asked(log(*range(1, 13))) == []
    assert asked(log(*range(1, 13)) + "| A16 | tiles | 80 | kept |\n") == [(Flaw.MISSING, 16)]
    assert asked(log(*range(1, 13)) + "| A16 | tiles | 80 | kept |\n\nA14 is still open.\n") == []
    assert asked(log(*range(1, 8)) + "| A16 | tiles | 80 | kept |\n") == []  # too few to tell
    assert asked(log(*range(1, 13)) + "| A40 | tiles | 60 | kept |\n") == []  # another series
    assert asked(log(*range(1, 40, 3))) == []  # a count in threes
