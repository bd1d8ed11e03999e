"""An explained loop as text: columns, totals, what is left out, two builds side by side."""

from pathlib import Path

import pytest

from expctl.explain.comparison import compared
from expctl.explain.explained import explain
from expctl.explain.terminal import comparison_lines, explained_lines
from tests.explain.made import CASE, STATEMENTS, described, walk


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_loop_by_line() -> None:
    shown = explained_lines(explain(walk(Path()), described(CASE)), 100)
    assert shown[:4] == [
        "walk.s  walk",
        "hot loop: 10 instructions, in lines 11 to 20 of the assembly for gfx1151",
        "launch: 3 iterations in 1 wave, 81.1 % of all instructions, n = 3; figures are per iteration and wave",
        "vector registers: at most 3 live of 24",
    ]
    table = shown[5:17]
    assert table[0].split() == ["line", "vec", "mem", "LDS", "sca", "br", "wait", "all", "passes", "lines", "live"]
    assert table[1].split(maxsplit=5) == ["11", "1", "1", "2/1", "2", "global_load_b32 v3, v1, s[2:3]"]
    assert table[3].split(maxsplit=5) == ["13", "1", "1", "2/1", "3", "ds_store_b32 v1, v3"]
    assert table[11] == ""
    assert shown[17].split() == ["1", "1", "2", "2", "1", "3", "10", "4/2", "2/1", "3", "all"]
    assert shown[19:] == [
        "Bound by the LDS, of what is counted: 4 passes for each of the 2 SIMDs that share it take 8 cycles; "
        "a SIMD is busy for at least 1 cycle.",
        "Memory: 256 bytes of lines, 32 for each of these cycles; memory delivers 1.1, so it is the bound unless caches "
        "serve 97 %.",
        "LDS passes: 4 where 2 would do; of the 2 too many 1 are at walk.s:13.",
        "Memory lines: 2 where 1 would do; of the 1 too many 1 are at walk.s:11.",
    ]


def test_columns_without_room_are_named() -> None:
    found = explain(walk(Path()), described(CASE))
    assert "  (no room for sca, br: a wider terminal or --json has them)" in explained_lines(found, 76)
    assert not any("no room" in line for line in explained_lines(found))


def test_several_files_stand_above_their_lines(tmp_path: Path) -> None:
    for name in ("one.h", "two.h"):
        (tmp_path / name).write_text(f"first of {name}\nsecond of {name}\n")
    located = STATEMENTS.replace("\tds_store", "\t.loc\t2 2 1     ; two.h:2:1\n\tds_store")
    located = located.replace("\tv_add", "\t.loc\t1 1 1     ; one.h:1:1 @[ two.h:1:1 ]\n\tv_add")
    located = "\t.loc\t1 2 1     ; one.h:2:1\n" + located
    shown = explained_lines(explain(walk(Path(), located), None))
    at = shown.index("one.h:")
    assert [line.split(maxsplit=1)[0] for line in shown[at : at + 5]] == ["one.h:", "1", "2", "two.h:", "2"]
    assert shown[at + 1].endswith("first of one.h")


def test_two_builds_show_what_differs() -> None:
    moved = STATEMENTS.replace("v_lshlrev_b32_e32 v1, 3, v0", "v_lshlrev_b32_e32 v1, 2, v0")
    case = described(CASE)
    shown = comparison_lines(compared(explain(walk(Path()), case), explain(walk(Path(), moved, "moved.s"), case)), 80)
    rows = {line[:24].strip(): line.split()[-4:] for line in shown}
    assert rows["LDS passes"] == ["4", "2", "-50.0", "%"]
    assert rows["fewest passes"][-3:] == ["2", "2", "="]
    table = [line.split() for line in shown if "→" in line]
    assert [row[:2] for row in table] == [["11", "11"], ["13", "13"], ["15", "15"]]
    assert "2/1→1" in table[0]
    assert "  (7 lines have the same figures)" in shown
    assert "b  LDS passes: 2, the fewest that these accesses can do with." in shown


def test_a_build_beside_itself_has_no_differing_line() -> None:
    found = explain(walk(Path()), described(CASE))
    shown = comparison_lines(compared(found, found), 80)
    assert "  (10 lines have the same figures)" in shown
    assert not any("→" in line for line in shown)


def test_builds_of_two_compilers_are_said_to_be(tmp_path: Path) -> None:
    a, b = explain(walk(tmp_path), None), explain(walk(tmp_path, STATEMENTS + '\t.ident "clang version 19.0.0"\n'), None)
    assert [line for line in comparison_lines(compared(a, b), 80) if line.startswith("note: ")] == [
        "note: a is by a compiler that the file doesn't name, b by clang version 19.0.0: the difference may be theirs"
    ]
    assert not [line for line in comparison_lines(compared(b, b), 80) if line.startswith("note: ")]
