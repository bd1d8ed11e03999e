"""Kernels that differ in what is easily taken for one have several hashes."""

import pytest

from expctl.inspection.readers.compiled_functions import read_functions

HEAD = '; ModuleID\ntarget triple = "nvptx64-nvidia-cuda"\n'


def kernel(body: str, *, before: str = "", given: str = "ptr %0, ptr %1, i32 %2", after: str = "") -> str:
    lines = "".join(f"{line}\n" if line.endswith(":") else f"  {line}\n" for line in body.split("\n"))
    text = f"{HEAD}{before}\ndefine ptx_kernel void @k({given}) #0 {{\n{lines}  ret void\n}}\n{after}"
    return read_functions("meaning", text)[0]["k"]


TILES = "".join(f"@{name} = internal addrspace(3) global [64 x float] undef, align 16\n" for name in "ab")
COPY = """%4 = load float, ptr %1, align 4
store float %4, ptr addrspace(3) @a, align 4
store float 1.0, ptr addrspace(3) @b, align 4
fence seq_cst
%5 = load float, ptr addrspace(3) @a, align 4
store float %5, ptr %0, align 4"""


def test_variables_that_look_alike_are_several() -> None:
    plain = kernel(COPY, before=TILES)
    other = COPY.replace("%5 = load float, ptr addrspace(3) @a", "%5 = load float, ptr addrspace(3) @b")
    assert plain != kernel(other, before=TILES)
    assert plain != kernel(COPY.replace("@b", "@a"), before=TILES)
    assert plain == kernel(COPY.replace("@a", "@x").replace("@b", "@y"), before=TILES.replace("@a", "@x").replace("@b", "@y"))
    assert plain == kernel(COPY, before=TILES, after="define ptx_kernel void @m() #0 {\n  store i32 1, ptr @b\n  ret void\n}\n")
    assert plain != kernel(COPY, before=TILES.replace("align 16", "align 1024"))


ARRAYS = """%4 = alloca [16 x float], align 4
%5 = alloca [16 x float], align 4
call void @fill(ptr %4, ptr %5)
%6 = load float, ptr {}, align 4
store float %6, ptr %0, align 4"""


def test_arrays_of_a_function_that_look_alike_are_several() -> None:
    assert kernel(ARRAYS.format("%4")) != kernel(ARRAYS.format("%5"))


READ = "%4 = load float, ptr addrspace(4) @c, align 4\nstore float %4, ptr %0, align 4"
TABLE = "@c = dso_local addrspace(4) externally_initialized constant [2 x float] [float 1.0, float {}], align 4"
CALL = "%4 = call i32 @twice(i32 %2)\nstore i32 %4, ptr %0, align 4"
TWICE = "define dso_local i32 @twice(i32 %0) #0 {{\n  %2 = mul i32 %0, {}\n  ret i32 %2\n}}\n"


def test_what_a_kernel_uses_counts() -> None:
    assert kernel(READ, before=TABLE.format("2.0")) != kernel(READ, before=TABLE.format("3.0"))
    assert kernel(CALL, before=TWICE.format("2")) != kernel(CALL, before=TWICE.format("3"))


@pytest.mark.parametrize(("one", "other"), [
    ("ptr %0, ptr %1, i32 %2", "ptr noalias %0, ptr noalias %1, i32 %2"),
    ("ptr %0, ptr readonly byval([4 x i32]) align 4 %1, i32 %2", "ptr %0, ptr readonly byval([5 x i32]) align 4 %1, i32 %2"),
])  # fmt: skip
def test_what_is_said_of_parameters_counts(one: str, other: str) -> None:
    assert kernel(COPY, before=TILES, given=one) != kernel(COPY, before=TILES, given=other)


def test_a_parameter_that_stays_in_constant_memory_counts() -> None:
    said = '!0 = !{ptr @k, !"grid_constant", !1}\n!1 = !{i32 1}\n'
    assert kernel(COPY, before=TILES) != kernel(COPY, before=TILES, after=said)


@pytest.mark.parametrize(("one", "other"), [
    ("%4 = sitofp i32 %2 to float\nstore float %4, ptr %0, align 4", "store i32 %2, ptr %0, align 4"),
    ("%4 = load i32, ptr %1, align 4\nstore i32 %4, ptr %0", "%4 = load i32, ptr %1, align 16\nstore i32 %4, ptr %0"),
    ("call void @llvm.memcpy.p0.p0.i64(ptr align 4 %0, ptr align 4 %1, i64 16, i1 false)",
     "call void @llvm.memcpy.p0.p0.i64(ptr align 16 %0, ptr align 16 %1, i64 16, i1 false)"),
])  # fmt: skip
def test_how_memory_is_written_counts(one: str, other: str) -> None:
    assert kernel(one) != kernel(other)


def delayed(values: int, first: str, read: str, written: int = 0) -> str:
    """Return a kernel that reads a value some turns before it writes it."""
    names = [f"%{20 + at}" for at in range(values)]
    phis = [
        f"{name} = phi float [ {first.format(at)}, %3 ], [ {after}, %10 ]"
        for at, (name, after) in enumerate(zip(names, [*names[1:], "%40"], strict=True))
    ]
    return kernel("\n".join((
        "br label %10", "10:", *phis, "%11 = phi i32 [ 0, %3 ], [ %12, %10 ]", "%13 = getelementptr float, ptr %0, i32 %11",
        f"store float {names[written]}, ptr %13, align 4", f"%14 = getelementptr float, ptr %1, i32 {read}",
        "%40 = load float, ptr %14, align 4", "%12 = add i32 %11, 1", "%15 = icmp eq i32 %12, %2",
        "br i1 %15, label %16, label %10", "16:",
    )))  # fmt: skip


@pytest.mark.parametrize("first", ["0.0", "{}.0"])
def test_what_is_read_many_turns_ahead_counts(first: str) -> None:
    assert delayed(9, first, "%11") != delayed(9, first, "%2")
    assert delayed(9, first, "%11") != delayed(10, first, "%11")
    assert delayed(9, first, "%11", 0) != delayed(9, first, "%11", 1)
