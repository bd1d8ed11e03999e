"""An argument that nobody writes is the same wherever it is read."""

import pytest

from expctl.inspection.readers.compiled_functions import read_functions

FENCE = 'call void asm sideeffect "fence.proxy.async;", "~{memory}"()'
LOAD = "%4 = getelementptr i8, ptr %1, i64 8", "%5 = load i32, ptr %4"


def meaning(argument: str, *body: str) -> str:
    lines = "\n".join(f"  {line}" for line in (*body, "store i32 %5, ptr %0", "ret void"))
    head = f"define ptx_kernel void @f(ptr %0, ptr noundef {argument}align 8 %1, i32 %2) {{"
    return read_functions("meaning", f'; ModuleID\ntarget triple = "nvptx64-nvidia-cuda"\n{head}\n{lines}\n}}\n')[0]["f"]


@pytest.mark.parametrize(
    ("argument", "is_same"), [("readonly byval([4 x i64]) ", True), ("byval([4 x i64]) ", False), ("readonly ", False)]
)
def test_where_it_is_read(argument: str, is_same: bool) -> None:
    assert (meaning(argument, *LOAD, FENCE) == meaning(argument, FENCE, *LOAD)) is is_same


def test_another_place_or_a_volatile_read_is_another() -> None:
    argument = "readonly byval([4 x i64]) "
    plain = meaning(argument, *LOAD, FENCE)
    assert plain != meaning(argument, LOAD[0].replace("8", "12"), LOAD[1], FENCE)
    assert plain != meaning(argument, LOAD[0], LOAD[1].replace("load", "load volatile"), FENCE)
    assert plain != meaning(argument, LOAD[0].replace("%1", "%0"), LOAD[1], FENCE)
