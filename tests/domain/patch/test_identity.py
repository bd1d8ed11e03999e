"""The normalised change: blind to what is no change, and to nothing else."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expctl.domain.patch.constants import plain_values
from expctl.domain.patch.identity import ChangeIdentity, identify
from expctl.domain.patch.source_items import items_of
from expctl.domain.patch.unified_diff import FileTexts

BEFORE = """// A tile.
#pragma once
namespace tiles {
constexpr int kRows = 16;   // of a tile
#if WIDE
constexpr int kLanes = 32;
#else
constexpr int kLanes = 1;
#endif
#define TILES(X) X(1, 2) X(3, 4)
struct Tile {
  int rows, width;
  int area() const { return rows * width; }
};
template <class C>
int sum(const C &values, int count) {
  int total = 0;
#pragma unroll 2
  for (int i = 0; i < count; ++i) total += values[i] * kRows;
  for (int i = 0; i < count; ++i) total -= values.rows;
  return total;
}
}  // namespace tiles
"""
PATH = "src/tile.h"


def change(after: str, before: str = BEFORE, path: str = PATH) -> ChangeIdentity:
    return identify([FileTexts(path=path, before=before, after=after, added=(), whole=True)], patch_id="")


def edited(old: str, new: str, text: str = BEFORE) -> str:
    assert old in text
    return text.replace(old, new, 1)


UNROLLED = edited("total += values[i] * kRows", "total += values[i] * kRows + 1")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("// A tile.", "/* A tile,\n in two lines */"),
        ("int total = 0;", "int   total\n    = 0;"),
        ("for (int i = 0; i < count; ++i) total += values[i]", "for (int j = 0; j < count; ++j) total += values[j]"),
        ("namespace tiles {", "namespace tiles\n{"),
    ],
)
def test_what_is_no_change_is_none(old: str, new: str) -> None:
    assert change(edited(old, new)).change == ""
    assert change(edited(old, new, UNROLLED)).change == change(UNROLLED).change != ""


@pytest.mark.parametrize(
    "after",
    [
        edited("kRows + 1", "kRows + 2", UNROLLED),
        edited("kRows + 1", "kLanes + 1", UNROLLED),
        edited("total -= values.rows", "total -= values.width", UNROLLED),
        edited("total -= values.rows", "total -= values.rows + 1"),
        edited("i < count; ++i) total += values[i]", "i < count; ++i) total += values[count]", UNROLLED),
        edited("#pragma unroll 2", "#pragma unroll 4", UNROLLED),
    ],
)
def test_what_is_another_change_is_told_apart(after: str) -> None:
    assert change(after).change not in ("", change(UNROLLED).change)


def test_a_swap_of_two_locals_is_a_change() -> None:
    before = "int f(int a, int b) { return g(a) - h(b); }\n"
    assert change("int f(int a, int b) { return g(b) - h(a); }\n", before).change
    assert not change("int f(int x, int y) { return g(x) - h(y); }\n", before).change


def test_the_same_line_in_another_branch_is_another_change() -> None:
    one = change(edited("kLanes = 32", "kLanes = 8"))
    other = change(edited("kLanes = 1;", "kLanes = 8;"))
    assert one.change != other.change
    assert one.settings != other.settings


@pytest.mark.parametrize(
    ("old", "new", "settings"),
    [
        ("kRows = 16", "kRows = 1 << 3", {"kRows": "1 << 3"}),
        ("kLanes = 1;", "kLanes = 8;", {"[if WIDE | else] kLanes": "8"}),
        ("X(1, 2) X(3, 4)", "X(1,2) X(5,6)  X(3,4)", {"TILES": "5,6"}),
        ("X(1, 2) X(3, 4)", "X(3, 4)", {"TILES": "without 1,2"}),
        ("#pragma unroll 2", "#pragma unroll 4", {"pragma unroll #1 of sum": "4"}),
        ("kRows = 16", "kRows = kLanes", {}),
        ("int total = 0;", "int total = 0, more = 1;", {}),
        ("values[i] * kRows", "values[i] * 16", {}),
        ("#pragma unroll 2\n", "", {}),
    ],
)
def test_settings_are_names_and_values_of_a_patch_that_sets_nothing_else(old: str, new: str, settings: dict[str, str]) -> None:
    found = change(edited(old, new))
    assert found.settings == settings
    assert bool(found.shapes) == bool(settings)


def test_a_value_beside_another_change_is_no_setting() -> None:
    assert change(edited("kRows = 16", "kRows = 8", UNROLLED)).settings == {}


def test_a_region_is_what_the_patch_takes_away() -> None:
    keys = {item.key for item in items_of(PATH, BEFORE)}
    assert set(change(UNROLLED).region[PATH]) <= keys
    assert len(change(UNROLLED).region[PATH]) == 1
    added = change(edited("struct Tile {", "constexpr int kMore = 1;\nstruct Tile {"))
    assert set(added.region[PATH]) <= keys, "of a pure insertion: what stands before it"


def test_a_shape_is_blind_to_values_and_to_nothing_else() -> None:
    first, second = change(edited("kRows = 16", "kRows = 8")), change(edited("kRows = 16", "kRows = 4", BEFORE))
    renamed = change(edited("kRows = 16", "kColumns = 4"), BEFORE.replace("kRows = 16", "kColumns = 16"))
    assert first.shapes == second.shapes != renamed.shapes


def test_lines_of_other_languages_know_their_place() -> None:
    before = "def f(x):\n    x += 1  # one\n    return x\n\ndef g(x):\n    return x\n"
    one = change(before.replace("    return x\n\n", "    x *= 2\n    return x\n\n"), before, "k.py")
    two = change(before + "    x *= 2\n", before, "k.py")
    assert one.change != two.change
    assert change(before.replace("# one", "# two").replace("\n\n", "\n\n\n"), before, "k.py").change == ""
    assert change(before.replace("    x += 1", "x += 1"), before, "k.py").change


NAMES = st.lists(st.text(string.ascii_lowercase, max_size=4).map("v_{}".format), min_size=4, max_size=4, unique=True)


@given(NAMES, st.sampled_from([" ", "\n", "\t", "\n\n  ", " /* x */ ", " // x\n"]))
def test_any_names_and_any_white_space_give_the_same_change(names: list[str], space: str) -> None:
    loop = "for ( int {3} = {0} ; {3} < {1} ; ++ {3} ) {2} += f ( {3} ) ;"
    template = f"int sum ( int {{0}} , int {{1}} ) {{{{ int {{2}} = 0 ; {loop} return {{2}} {{4}} ; }}}}"
    plain = template.format("a", "b", "c", "d", "+ rows")
    other = template.format(*names, "+ rows").replace(" ", space)
    before = "int sum ( int a , int b ) { return a ; }\n"
    assert change(plain, before).change == change(other, before).change
    assert change(template.format(*names, "- rows").replace(" ", space), before).change != change(plain, before).change


@given(st.text(max_size=200))
def test_any_text_has_items(text: str) -> None:
    assert change(text + "x", text) == change(text + "x", text)
    assert change(text, text).change == ""


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "piece", ["/*", "#", "{}", "x={}{}", "x\n", "a<", "(", "int a,", '"', "#if A\n", "FOO(", "const ", "'\\"]
)
def test_a_hostile_text_costs_no_more_than_its_length(piece: str) -> None:
    for path in ("k.h", "k.py"):
        text = piece * (60_000 // len(piece))
        assert change(f"int y;\n{text}\nz", f"{text}\nint x;", path).change


@pytest.mark.parametrize("spelled", ["60000", "60_000", "60'000", "0xea60", "0xEA_60", "0b1110'1010'0110'0000", "60000u"])
def test_a_value_is_the_same_however_its_digits_are_written(spelled: str) -> None:
    assert plain_values({"kTile": spelled}) == {"kTile": "60000"}
