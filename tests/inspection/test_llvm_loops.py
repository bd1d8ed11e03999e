"""Loops that count alike have one hash, whatever they count by; another number of turns or another step is another loop."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expctl.inspection.readers.llvm_loops import Growing, last_turn, turns
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


UPWARDS = (
    "%6 = getelementptr i16, ptr %2, i64 %4", "%5 = load i16, ptr %6, align 2", "%10 = add i16 %5, 3",
    "store i16 %10, ptr %6, align 2", "%8 = add i64 %4, 1", "%11 = zext i32 %1 to i64", "%9 = icmp eq i64 %8, %11",
)  # fmt: skip
TO_THE_END = ("%20 = zext i32 %1 to i64", "%21 = getelementptr i16, ptr %2, i64 %20", "br label %turn", "turn:")


def downwards(*body: str, step: str = "-2") -> str:
    """A pointer that walks from the end of an array to its beginning."""
    walks = ("%6 = phi ptr [ %21, %3 ], [ %7, %turn ]", f"%7 = getelementptr i8, ptr %6, i64 {step}")
    end = ("%9 = icmp eq ptr %7, %2", "br i1 %9, label %done, label %turn", "done:", "ret void")
    return meaning(*TO_THE_END, *walks, *body, *end)


def test_a_loop_that_runs_once_at_least_has_the_turns_that_it_is_asked_for() -> None:
    least = ("%12 = call i32 @llvm.smax.i32(i32 %1, i32 1)", "%13 = call i32 @llvm.umin.i32(i32 %12, i32 16)")
    plain = ("%13 = call i32 @llvm.smin.i32(i32 %1, i32 16)",)

    def upwards(*count: str) -> str:
        return loop(*count, *UPWARDS[:5], "%11 = zext i32 %13 to i64", UPWARDS[6])

    assert upwards(*least) == upwards(*plain)
    assert upwards(least[0].replace("i32 1)", "i32 2)"), least[1]) != upwards(*plain)


@pytest.mark.parametrize(("second", "is_counted"), [("0", True), ("1", False)])
def test_a_loop_counts_that_begins_alike_wherever_it_is_entered(second: str, is_counted: bool) -> None:
    def entered(test: str) -> str:
        ways = (
            "%19 = icmp eq i32 %0, 0",
            "br i1 %19, label %20, label %turn",
            "20:",
            "fence seq_cst",
            "br label %turn",
            "turn:",
        )
        phi = f"%4 = phi i64 [ 0, %3 ], [ {second}, %20 ], [ %8, %turn ]"
        return meaning(*ways, phi, *INDEXED, f"%9 = icmp {test}", "br i1 %9, label %done, label %turn", "done:", "ret void")

    assert (entered("eq i64 %8, 16") == entered("ugt i64 %4, 14")) is is_counted


READ, WRITTEN = ("%5 = load i16, ptr %7, align 2", "%10 = add i16 %5, 3"), "store i16 %10, ptr %7, align 2"


def test_a_loop_of_which_each_turn_is_alone_may_run_backwards() -> None:
    assert downwards(*READ, WRITTEN) == loop(*UPWARDS)
    assert downwards(*READ, WRITTEN, step="-4") != loop(*UPWARDS)


@pytest.mark.parametrize(
    "body",
    [
        ("%5 = load i16, ptr %6, align 2", "%10 = add i16 %5, 3", WRITTEN),  # of the turn before
        (*READ, WRITTEN, "store i16 %10, ptr null, align 2"),  # the last one stays
        (*READ, WRITTEN, "fence seq_cst"),
        (*READ, "%12 = load i16, ptr %2, align 2", WRITTEN, "store i16 %12, ptr %2, align 2"),
    ],
)
def test_turns_that_hang_together_keep_their_order(body: tuple[str, ...]) -> None:
    upwards = [each.replace("ptr %6", "ptr %13").replace("ptr %7", "ptr %6") for each in body]
    before = ("%13 = getelementptr i8, ptr %6, i64 2",)
    assert downwards(*body) != loop(UPWARDS[0], *before, *upwards, *UPWARDS[4:])


@given(st.integers(-50, 50), st.integers(-7, 7).filter(bool), st.booleans(), st.booleans())
def test_turns_are_those_of_a_loop_that_is_played(start: int, step: int, is_zero: bool, leaves_if: bool) -> None:
    def holds(turn: int) -> bool:
        value = start + step * turn
        return value == 0 if is_zero else value >= 0

    played = next((turn for turn in range(TURNS) if holds(turn) == leaves_if), None)
    assert turns(Growing(is_zero, Sum(start, (("turn", step),))), "turn", leaves_if=leaves_if) == played


@given(st.integers(1, 40), st.integers(1, 7))
def test_an_end_that_is_a_value_is_that_of_each_of_its_values(turns_of: int, step: int) -> None:
    for test, leaves_if in (
        (Growing(True, Sum(-step, (("n", step), ("turn", -step)))), True),
        (Growing(True, Sum(step, (("n", -step), ("turn", step)))), True),
        (Growing(False, Sum(-2, (("n", 1), ("turn", -1)))), False),
        (Growing(False, Sum(1, (("n", -1), ("turn", 1)))), True),
    ):
        known = Growing(test.is_zero, test.sum.plus(Sum(turns_of * dict(test.sum.terms)["n"])))
        known = Growing(known.is_zero, known.sum.plus(Sum(0, (("n", dict(test.sum.terms)["n"]),)), -1))
        last = last_turn(test, "turn", leaves_if=leaves_if)
        assert last == Sum(-1, (("n", 1),))
        assert last_turn(known, "turn", leaves_if=leaves_if) == Sum(turns_of - 1)


def test_turns_of_something_else_are_not_told() -> None:
    for of in (Sum(3), Sum(3, (("other", 1),)), Sum(3, (("turn", 1), ("other", 1))), Sum(0.5, (("turn", 1),))):
        assert turns(Growing(False, of), "turn", leaves_if=True) is None
