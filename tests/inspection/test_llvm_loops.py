"""Loops that count alike have one hash, whatever they count by; another number of turns or another step is another loop."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expctl.inspection.readers.llvm_loops import Growing, turns
from expctl.inspection.readers.llvm_sums import Sum
from tests.inspection.test_llvm_meaning import meaning

TURNS = 300


def loop(*body: str, first: str = "0", also: str = "", leave: str = "%9, label %done, label %turn") -> str:
    phis = [f"%4 = phi i64 [ {first}, %3 ], [ %8, %turn ]", *([also] if also else [])]
    return meaning("br label %turn", "turn:", *phis, *body, f"br i1 {leave}", "done:", "ret void")


STORED = "store i32 %0, ptr %6, align 4"
INDEXED = ("%5 = shl i64 %4, 8", "%6 = getelementptr inbounds nuw i8, ptr %2, i64 %5", STORED, "%8 = add nuw nsw i64 %4, 1")
USUAL = loop(*INDEXED, "%9 = icmp eq i64 %8, 16")
WALKING = "%6 = phi ptr [ %2, %3 ], [ %7, %turn ]"
STEP = "%7 = getelementptr inbounds nuw i8, ptr %6, i64 256"
SAME = {
    "less than": loop(*INDEXED, "%9 = icmp samesign ult i64 %4, 15", leave="%9, label %turn, label %done"),
    "signed": loop(*INDEXED, "%9 = icmp slt i64 %8, 16", leave="%9, label %turn, label %done"),
    "not equal": loop(*INDEXED, "%9 = icmp ne i64 %4, 15", leave="%9, label %turn, label %done"),
    "greater": loop(*INDEXED, "%9 = icmp ugt i64 %4, 14"),
    "by bytes": loop(
        "%6 = getelementptr i8, ptr %2, i64 %4", STORED, "%8 = add i64 %4, 256", "%9 = icmp eq i64 %8, 4096"
    ),
    "from one": loop(
        "%5 = shl i64 %4, 8", "%10 = getelementptr i8, ptr %2, i64 %5", "%6 = getelementptr i8, ptr %10, i64 -256", STORED,
        "%8 = add i64 %4, 1", "%9 = icmp eq i64 %8, 17", first="1",
    ),
    "downwards": loop(
        "%10 = sub i64 16, %4", "%5 = shl i64 %10, 8", "%6 = getelementptr i8, ptr %2, i64 %5", STORED,
        "%8 = add i64 %4, -1", "%9 = icmp eq i64 %8, 0", first="16",
    ),
    "a pointer that walks": loop(STORED, STEP, "%8 = add i64 %4, 1", "%9 = icmp eq i64 %8, 16", also=WALKING),
    "in two steps": loop(
        STORED, "%10 = getelementptr i8, ptr %6, i64 128", "%7 = getelementptr [16 x i64], ptr %10, i64 1",
        "%8 = add i64 %4, 2", "%9 = icmp sgt i64 %8, 31", also=WALKING,
    ),
}  # fmt: skip
OTHER = {
    "one turn more": loop(*INDEXED, "%9 = icmp eq i64 %8, 17"),
    "one turn less": loop(*INDEXED, "%9 = icmp samesign ult i64 %4, 14", leave="%9, label %turn, label %done"),
    "left when it should go on": loop(*INDEXED, "%9 = icmp eq i64 %8, 16", leave="%9, label %turn, label %done"),
    "another step": loop(STORED, STEP.replace("256", "128"), "%8 = add i64 %4, 1", "%9 = icmp eq i64 %8, 16", also=WALKING),
    "another beginning": loop(*INDEXED, "%9 = icmp eq i64 %8, 17", first="1"),
    "a step that changes": loop(
        STORED, "%7 = getelementptr i8, ptr %6, i64 %4", "%8 = add i64 %4, 1", "%9 = icmp eq i64 %8, 16", also=WALKING
    ),
    "an end that isn't known": loop(*INDEXED, "%10 = sext i32 %0 to i64", "%9 = icmp eq i64 %8, %10"),
}


@pytest.mark.parametrize("name", SAME)
def test_the_same_turns_are_one_loop(name: str) -> None:
    assert SAME[name] == USUAL


@pytest.mark.parametrize("name", OTHER)
def test_other_turns_are_another_loop(name: str) -> None:
    assert OTHER[name] not in {USUAL, *(each for other, each in OTHER.items() if other != name)}


@given(st.integers(-50, 50), st.integers(-7, 7).filter(bool), st.booleans(), st.booleans())
def test_turns_are_those_of_a_loop_that_is_played(start: int, step: int, is_zero: bool, leaves_if: bool) -> None:
    def holds(turn: int) -> bool:
        value = start + step * turn
        return value == 0 if is_zero else value >= 0

    played = next((turn for turn in range(TURNS) if holds(turn) == leaves_if), None)
    assert turns(Growing(is_zero, Sum(start, (("turn", step),))), "turn", leaves_if=leaves_if) == played


def test_turns_of_something_else_are_not_told() -> None:
    for of in (Sum(3), Sum(3, (("other", 1),)), Sum(3, (("turn", 1), ("other", 1))), Sum(0.5, (("turn", 1),))):
        assert turns(Growing(False, of), "turn", leaves_if=True) is None
