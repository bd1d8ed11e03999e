"""Of two changes of one text, each stays where it was made; where both change the same lines, there is no such text."""

import pytest

from expctl.domain.patch.both_changes import with_both

BEFORE = "a\nb\nc\nd\n"


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        ("a\nB\nc\nd\n", "a\nb\nc\nD\n", "a\nB\nc\nD\n"),
        ("a\nb\nx\nc\nd\n", "a\ny\nb\nc\nd\n", "a\ny\nb\nx\nc\nd\n"),  # each in the other's context
        ("a\nx\nb\nc\nd\n", "a\ny\nb\nc\nd\n", "a\nx\ny\nb\nc\nd\n"),
        ("a\nB\nc\nd\n", "a\nB\nc\nD\n", "a\nB\nc\nD\n"),  # a line that both change alike
        (BEFORE, "a\nd\n", "a\nd\n"),
        ("a\nB\nc\nd\n", "a\nC\nc\nd\n", None),
        ("a\nd\n", "a\nb\nC\nd\n", None),
    ],
)
def test_both_changes_of_one_text(one: str, other: str, both: str | None) -> None:
    assert with_both(BEFORE, one, other) == both


def test_a_long_table_of_one_line_is_not_compared() -> None:
    def table(rows: int, *, last: str) -> str:
        return "0,\n" * rows + last

    assert with_both(table(100, last="a"), table(100, last="b"), "1,\n" + table(100, last="a")) == "1,\n" + table(100, last="b")
    assert with_both(table(3000, last="a"), table(3000, last="b"), "1,\n" + table(3000, last="a")) is None
