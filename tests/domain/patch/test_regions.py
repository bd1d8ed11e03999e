"""Where added lines stand: in which functions, and whether in a loop."""

import pytest

from expctl.domain.patch.identity import ChangeIdentity, identify
from expctl.domain.patch.regions import lies_in, places_of
from expctl.domain.patch.unified_diff import FileTexts

SOURCE = """\
template <class C> struct Refill {
  METHOD void load(const Problem &problem, int slice) {
    mark(1);
    for (int i = 0; i < 4; ++i) {
      mark(2);
      if (i % 2) mark(3);
    }
    for (int i = 0; i < 4; ++i)
      mark(4);
    const auto later = [&](int i) { mark(5); };
  }
  METHOD void store() const { mark(6); }   // mark() in load
#define LOOP while (true) {
};
static int count = mark(7);
do { mark(8); } while (count);
"""
PYTHON = """\
def load(x):
    mark(1)
    for i in x:
        mark(2)
    mark(3)

mark(4)
"""


def test_a_line_of_c_is_in_functions_and_loops() -> None:
    found = {}
    for line, place in zip(SOURCE.split("\n"), places_of("a.h", SOURCE), strict=True):
        for number in "12345678":
            if f"mark({number})" in line:
                found[number] = sorted(place)
    assert found == {
        "1": ["load"],
        "2": ["load", "loop"],
        "3": ["load", "loop"],
        "4": ["load", "loop"],
        "5": ["load"],
        "6": ["store"],
        "7": [],
        "8": ["loop"],
    }


def test_a_line_of_python_is_too() -> None:
    found = [sorted(place) for line, place in zip(PYTHON.split("\n"), places_of("a.py", PYTHON), strict=True) if "mark" in line]
    assert found == [["load"], ["load", "loop"], ["load"], []]
    assert set(places_of("a.f90", "mark\n")) == {frozenset()}


@pytest.mark.parametrize(
    ("region", "marks"),
    [("load", "12345"), ("load loop", "234"), ("loop", "2348"), ("store", "6"), ("other", ""), ("", "12345678")],
)
def test_added_lines_of_a_region(region: str, marks: str) -> None:
    lines = SOURCE.split("\n")
    added = tuple(at for at, line in enumerate(lines) if "mark(" in line)
    found: ChangeIdentity = identify([FileTexts(path="a.h", before="", after=SOURCE, added=added, whole=True)], patch_id="p")
    assert sorted({each.split("mark(")[1][0] for each in found.added_in(region)}) == [*marks]


def test_a_region_is_a_function_its_loops_or_any_loop() -> None:
    place = frozenset({"load", "loop"})
    assert [lies_in(place, each) for each in ("load", "loop", "load loop", "store loop")] == [True, True, True, False]
