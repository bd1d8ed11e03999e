"""Where a table begins and ends, in Markdown, TSV and CSV."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expctl.domain.errors import Refused
from expctl.imported.tables import read_document
from tests.refusals import refuses


def cells(text: str, name: str = "a.md") -> list[list[tuple[str, ...]]]:
    return [[table.heads, *(row.cells for row in table.rows)] for table in read_document(text.encode(), name).tables]


@pytest.mark.parametrize(
    "text",
    [
        "| a | b |\n|---|---|\n| 1 | 2 |\n",
        "a | b\n-- | --\n1 | 2\n",
        "text before\n| a | b |\r\n| :-- | --: |\r\n| 1 | 2 |\r\n\r\ntext after | with a pipe\n",
        "| a | b |\n|---|---|\n| 1 | 2 |\n# next\n",
    ],
)
def test_a_table_of_markdown(text: str) -> None:
    assert cells(text) == [[("a", "b"), ("1", "2")]]


def test_pipes_that_are_escaped_missing_cells_and_too_many() -> None:
    text = "| a | b |\n|---|---|\n| x \\| y | 2 |\n| only |\n| 1 | 2 | 3 |\n"
    assert cells(text) == [[("a", "b"), ("x | y", "2"), ("only", ""), ("1", "2 | 3")]]


@pytest.mark.parametrize(
    "text", ["a | b\n1 | 2\n", "| a | b |\n|---|\n| 1 | 2 |\n", "```\n| a |\n|---|\n| 1 |\n```\n", "", "\n\n"]
)
def test_what_is_no_table(text: str) -> None:
    assert cells(text) == []


def test_lines_and_headings_keep_their_places() -> None:
    document = read_document(b"# Title\n\nwords\n\n## Next\n### P1: more\n- a\n\n| a |\n|---|\n| 1 |\n", "folder/a.md")
    assert (document.name, document.title) == ("a.md", "Title")
    assert [(section.line, section.title, section.under) for section in document.sections[1:]] == [
        (1, "Title", ""),
        (5, "Next", "Title"),
        (6, "P1: more", "Next"),
    ]
    assert [(line.number, line.text) for line in document.sections[3].lines] == [(7, "- a"), (8, "")]
    assert (document.tables[0].line, document.tables[0].section, document.tables[0].rows[0].line) == (9, "P1: more", 11)


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("a\tb\n1\t2\n", "a.tsv", [("a", "b"), ("1", "2")]),
        ('# a comment\na\tb\r\n\r\n1\t"2\r\n', "a.tsv", [("a", "b"), ("1", '"2')]),
        ('a,b\n"1, ""one""",2\n', "a.csv", [("a", "b"), ('1, "one"', "2")]),
        ('a;b\n"1;2";1,5\n', "a.csv", [("a", "b"), ("1;2", "1,5")]),
        ("a,b;c\n1,2\n", "a.csv", [("a", "b;c"), ("1", "2")]),
        ("a\tb\tc\n1\t2\t3\n", "log", [("a", "b", "c"), ("1", "2", "3")]),
        ("\ufeffa\tb\n1\t2\n", "a.tsv", [("a", "b"), ("1", "2")]),
    ],
)
def test_delimited_text(text: str, name: str, expected: list[tuple[str, ...]]) -> None:
    assert cells(text, name) == [expected]


def test_a_comment_holds_no_table() -> None:
    table = "| a |\n|---|\n| 1 |\n"
    assert cells(f"<!--\n{table}-->\n<!-- one line -->\n{table}") == [[("a",), ("1",)]]
    assert cells(f"{table}<!-- | 2 |\n{table}-->\n") == [[("a",), ("1",)]]
    assert cells(f"```\n<!--\n```\n{table}") == [[("a",), ("1",)]], "in a fence it is text"
    assert cells("| a |\n|---|\n| `<!--` |\n") == [[("a",), ("`<!--`",)]]
    with refuses("comment-never-ends") as caught:
        read_document(f"{table}\n<!--\n{table}".encode(), "a.md")
    assert caught.value.where == "a.md, line 5"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('a,b\n1,"x\ny"\n2,"unclosed\n3,z\n', 4),
        ('a,b\n1,"unclosed\n2,"z"\n', 2),
    ],
)
def test_a_quote_that_is_not_closed_is_refused_with_its_line(text: str, line: int) -> None:
    with refuses("file-damaged") as caught:
        read_document(text.encode(), "a.csv")
    assert (caught.value.where, bool(caught.value.hint)) == (f"a.csv, line {line}", True)


def test_a_nul_is_refused_with_its_line_and_what_to_do() -> None:
    with refuses("not-text") as caught:
        read_document(b"id\tverdict\nP1\tkeep\0\n", "a.tsv")
    assert caught.value.where == "a.tsv, line 2"
    assert "tr -d" in caught.value.hint


@pytest.mark.parametrize("contents", [b"\xff\xfe\x00", b"| a |\n|---|\n| \x00 |\n", b"\x80"])
def test_what_is_not_text_is_refused(contents: bytes) -> None:
    with refuses("not-text"):
        read_document(contents, "a.md")


@given(st.text(alphabet='|-:#`\n\t,"\\ aP1', max_size=120), st.sampled_from(["a.md", "a.tsv", "a.csv", "a"]))
def test_every_row_has_as_many_cells_as_heads(text: str, name: str) -> None:
    try:
        document = read_document(text.encode(), name)
    except Refused:
        return  # a quote that isn't closed
    for table in document.tables:
        assert all(len(row.cells) == len(table.heads) for row in table.rows)
