"""Numbers that have no bit in common are joined by `or` as by `add`."""

import pytest

from expctl.inspection.readers.compiled_functions import read_functions

BYTES = """
  %4 = load i8, ptr %2
  %5 = zext i8 %4 to i32
  %6 = icmp slt i32 %0, %1
  br i1 %6, label %7, label %12
7:
  %8 = load i8, ptr %3
  %9 = zext i8 %8 to i32
  %10 = shl nuw i32 %9, {shift}
  br label %12
12:
  %13 = phi i32 [ {none}, %4 ], [ %10, %7 ]
  %14 = {join} i32 %13, %5
  store i32 %14, ptr %3
  ret void
"""


def joined(join: str, shift: int = 8, none: int = 0) -> str:
    body = BYTES.format(join=join, shift=shift, none=none)
    text = f'; ModuleID\ntarget triple = "nvptx64-nvidia-cuda"\ndefine void @f(i32 %0, i32 %1, ptr %2, ptr %3) {{{body}}}\n'
    return read_functions("meaning", text)[0]["f"]


@pytest.mark.parametrize(
    ("shift", "none", "is_same"), [(8, 0, True), (24, 0, True), (8, 256, True), (7, 0, False), (8, 3, False), (8, -1, False)]
)
def test_bits_that_only_one_has(shift: int, none: int, is_same: bool) -> None:
    assert (joined("or", shift, none) == joined("add", shift, none)) is is_same
    assert (joined("xor", shift, none) == joined("add", shift, none)) is is_same
    assert joined("or", shift, none) != joined("sub", shift, none)


def test_a_bit_times_a_number_has_the_bits_of_that() -> None:
    def chosen(join: str, least: int) -> str:
        body = f"""
  %4 = load i8, ptr %2
  %5 = zext i8 %4 to i32
  %6 = icmp slt i32 %0, %1
  %7 = shl i32 %5, {least}
  %8 = select i1 %6, i32 %7, i32 0
  %9 = {join} i32 %8, %5
  store i32 %9, ptr %3
  ret void
"""
        text = f'; ModuleID\ntarget triple = "nvptx64-nvidia-cuda"\ndefine void @f(i32 %0, i32 %1, ptr %2, ptr %3) {{{body}}}\n'
        return read_functions("meaning", text)[0]["f"]

    assert chosen("or", 8) == chosen("add", 8)
    assert chosen("or", 7) != chosen("add", 7)
