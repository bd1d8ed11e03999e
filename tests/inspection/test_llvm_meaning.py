"""Functions of LLVM IR that do the same have one hash; what does something else has another."""

import pytest

from expctl.inspection.readers.compiled_functions import own_statements, read_functions

HEAD = """; ModuleID
target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.smin.i32(i32, i32) #1
declare void @llvm.amdgcn.s.setprio(i16) #2
"""
TAIL = "attributes #1 = { nounwind memory(none) }\nattributes #2 = { nounwind }\n"


def meaning(*body: str, tail: str = TAIL) -> str:
    lines = "\n".join(f"  {line}" if not line.endswith(":") else line for line in body)
    functions, _ = read_functions("meaning", f"{HEAD}define void @f(i32 %0, i32 %1, ptr %2) #2 {{\n{lines}\n}}\n{tail}")
    return functions["f"]


STORE = "store i32 %5, ptr %2, align 4, !tbaa !7"
SAME = [
    (["%4 = add nsw i32 %0, 1", "%5 = mul i32 %4, 2"], ["%4 = shl i32 %0, 1", "%5 = add i32 2, %4"]),
    (["%4 = sub i32 %0, %1", "%5 = mul i32 %4, %0"], ["%4 = mul i32 %0, %0", "%6 = mul i32 %1, %0", "%5 = sub nsw i32 %4, %6"]),
    (["%4 = lshr i32 %0, 1", "%5 = and i32 %4, 64"], ["%4 = and i32 %0, 128", "%5 = lshr exact i32 %4, 1"]),
    (
        ["%4 = icmp slt i32 %0, %1", "%5 = select i1 %4, i32 %0, i32 7"],
        ["%4 = icmp sge i32 %0, %1", "%5 = select i1 %4, i32 7, i32 %0"],
    ),
    (
        ["%4 = icmp sle i32 %0, 7", "%5 = select i1 %4, i32 1, i32 2"],
        ["%4 = icmp slt i32 %0, 8", "%5 = select i1 %4, i32 1, i32 2"],
    ),
    (
        ["%5 = tail call i32 @llvm.smin.i32(i32 %0, i32 %1)"],
        ["%5 = call noundef i32 @llvm.smin.i32(i32 noundef %1, i32 %0)"],
    ),
    (
        ["%4 = icmp ult i32 %0, 4", "%6 = add i32 %0, -4", "%5 = select i1 %4, i32 %0, i32 %6"],
        ["%5 = and i32 %0, 3"],
    ),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_another_spelling_is_the_same(one: list[str], other: list[str]) -> None:
    assert meaning(*one, STORE, "ret void") == meaning(*other, STORE, "ret void")


OTHER = [
    (["%5 = add i32 %0, 1"], ["%5 = add i32 %0, 2"]),
    (["%5 = sub i32 %0, %1"], ["%5 = sub i32 %1, %0"]),
    (["%5 = lshr i32 %0, 1"], ["%5 = lshr i32 %0, 2"]),
    (["%4 = icmp slt i32 %0, %1", "%5 = zext i1 %4 to i32"], ["%4 = icmp sle i32 %0, %1", "%5 = zext i1 %4 to i32"]),
    (
        ["%4 = icmp ult i32 %0, 4", "%6 = add i32 %0, -3", "%5 = select i1 %4, i32 %0, i32 %6"],
        ["%5 = and i32 %0, 3"],
    ),
    (["%5 = add i32 %0, 1"], ["call void @llvm.amdgcn.s.setprio(i16 2)", "%5 = add i32 %0, 1"]),
]


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_another_thing_is_another(one: list[str], other: list[str]) -> None:
    assert meaning(*one, STORE, "ret void") != meaning(*other, STORE, "ret void")


def test_an_instruction_is_one_however_it_is_asked_for() -> None:
    builtin = meaning("call void @llvm.amdgcn.s.setprio(i16 2)", "ret void")
    assert meaning('call void asm sideeffect "s_setprio 2", "~{memory}"()', "ret void") == builtin
    assert meaning('call void asm sideeffect "s_setprio 1", "~{memory}"()', "ret void") != builtin


@pytest.mark.parametrize(("word", "locality"), [("t0", 3), ("t1", 2), ("t2", 1), ("nta", 0)])
def test_a_prefetch_in_assembly_is_one_by_the_builtin(word: str, locality: int) -> None:
    place = "%5 = getelementptr inbounds i8, ptr %2, i64 256"
    written = f'tail call void asm sideeffect "prefetch{word} $0", "*m,~{{flags}}"(ptr nonnull elementtype(float) %5) #3'
    asked = f"tail call void @llvm.prefetch.p0(ptr nonnull %5, i32 0, i32 {locality}, i32 1)"
    other = f"tail call void @llvm.prefetch.p0(ptr nonnull %5, i32 0, i32 {(locality + 1) % 4}, i32 1)"
    assert meaning(place, written, "ret void") == meaning(place, asked, "ret void") != meaning(place, other, "ret void")


@pytest.mark.parametrize(
    ("words", "number"),  # as clang 21 assembles them for gfx1151
    [("lgkmcnt(0)", 0xFC07), ("vmcnt(0)", 0x03F7), ("vmcnt(2) lgkmcnt(1)", 0x0817), ("vmcnt(0) & expcnt(0) & lgkmcnt(0)", 0)],
)
def test_a_wait_in_words_is_its_number(words: str, number: int) -> None:
    in_words = meaning(f'call void asm sideeffect "s_waitcnt {words}", "~{{memory}}"()', "ret void")
    assert in_words == meaning(f"call void @llvm.amdgcn.s.waitcnt(i32 {number})", "ret void")
    assert in_words != meaning(f"call void @llvm.amdgcn.s.waitcnt(i32 {number ^ 0x10})", "ret void")


def test_effects_keep_their_order_and_loads_their_place() -> None:
    first, second = "store i32 %0, ptr %2, align 4", "store i32 %1, ptr %2, align 4"
    assert meaning(first, second, "ret void") != meaning(second, first, "ret void")
    load, use = "%5 = load i32, ptr %2, align 4", "store i32 %5, ptr null, align 4"
    assert meaning(load, first, use, "ret void") != meaning(first, load, use, "ret void")


def test_statements_are_those_of_the_repository_with_macros_gone() -> None:
    text = '# 1 "/usr/include/x.h" 1 3\nint hidden;\n# 2 "kernel/a.h" 2\ncall(  2 );\nname("a" "b");\n'
    assert list(own_statements(text)) == ["call ( 2 ) ;", 'name ( "ab" ) ;']


@pytest.mark.parametrize(
    "attribute", ['"amdgpu-waves-per-eu"="4,4"', '"amdgpu-flat-work-group-size"="1,64"', "minsize", '"tune-cpu"="x"']
)
def test_what_a_function_may_use_is_part_of_it(attribute: str) -> None:
    assert meaning("ret void") != meaning("ret void", tail=TAIL.replace("#2 = { nounwind", f"#2 = {{ nounwind {attribute}"))
    assert meaning("ret void") == meaning("ret void", tail=TAIL.replace("#1 = { nounwind", f"#1 = {{ nounwind {attribute}"))
    assert meaning("ret void") == meaning(
        "ret void", tail=TAIL.replace("#2 = { nounwind", '#2 = { nounwind "no-trapping-math"="true"')
    )


CHOICE = "%4 = icmp eq i32 %0, 0"
ONE, TWO = "store i32 1, ptr %2, align 4", "store i32 2, ptr %2, align 4"


def test_blocks_that_only_go_on_and_that_are_one_are_the_same() -> None:
    plain = meaning(CHOICE, "br i1 %4, label %7, label %8", "7:", ONE, "br label %8", "8:", TWO, "ret void")
    split = meaning(
        *(CHOICE, "br label %5", "5:", "br i1 %4, label %6, label %9", "6:", "%10 = add i32 %1, 1", "br label %7"),
        *("7:", ONE, "br label %9", "9:", TWO, "ret void"),
    )
    assert plain == split
    assert plain != meaning(CHOICE, "br i1 %4, label %7, label %8", "7:", TWO, "br label %8", "8:", ONE, "ret void")


def test_the_order_of_blocks_in_the_text_is_not_what_a_function_does() -> None:
    one = meaning(
        CHOICE, "br i1 %4, label %7, label %8", "7:", ONE, "br label %9", "8:", "fence seq_cst", "br label %9", "9:", "ret void"
    )
    other = meaning(
        *("%4 = icmp ne i32 %0, 0", "br i1 %4, label %7, label %8", "7:", "fence seq_cst", "br label %9"),
        *("8:", ONE, "br label %9", "9:", "ret void"),
    )
    swapped = meaning(
        *(CHOICE, "br i1 %4, label %7, label %8", "7:", "fence seq_cst", "br label %9"),
        *("8:", ONE, "br label %9", "9:", "ret void"),
    )
    assert one == other != swapped


def test_a_value_keeps_the_way_by_which_it_comes() -> None:
    """A block that only goes on stays where the block before it goes the same way, too."""

    def chosen(first: str, second: str) -> str:
        phi = f"%5 = phi i32 [ {first}, %3 ], [ {second}, %7 ]"
        return meaning(CHOICE, "br i1 %4, label %7, label %8", "7:", "br label %8", "8:", phi, STORE, "ret void")

    assert chosen("%0", "%1") != chosen("%1", "%0")
    assert chosen("%0", "%1") == chosen("%0", "%1")
