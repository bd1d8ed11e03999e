"""docs/SECURITY.md is one page, and each of its promises names tests that exist."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/SECURITY.md").read_text().splitlines()
LINES_MOST, WIDTH_MOST = 75, 132


def test_it_is_one_page() -> None:
    assert len(PAGE) <= LINES_MOST
    assert [line for line in PAGE if len(line) > WIDTH_MOST] == []


def test_each_promise_has_a_test() -> None:
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE if line.startswith("| ")]
    promises = [row for row in rows if row[0] != "promise"]
    named = [name for _, _, tests in promises for name in tests.split(", ")]
    assert len(promises) > 20
    assert [name for name in named if not (ROOT / "tests" / f"{name}.py").exists()] == []
