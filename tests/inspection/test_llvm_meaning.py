"""Functions of LLVM IR that do the same have one hash; what does something else has another."""

import pytest

from expctl.inspection.readers.compiled_functions import own_statements, read_functions

HEAD = """; ModuleID
target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.smin.i32(i32, i32) #1
declare i32 @llvm.smax.i32(i32, i32) #1
declare i32 @llvm.umin.i32(i32, i32) #1
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


@pytest.mark.parametrize(("bits", "name"), [("", ""), (" slc dlc", ", !nontemporal !4")])
def test_a_store_in_assembly_is_one_with_its_cache_bits(bits: str, name: str) -> None:
    value = ("%5 = fptrunc float 1.0 to half", "%6 = bitcast half %5 to i16")
    text = f'call void asm sideeffect "global_store_b16 $0, $1, off{bits}", "v,v,~{{memory}}"(ptr %7, i32 %8)'
    place = "%7 = addrspacecast ptr addrspace(1) %4 to ptr"
    tail = f"{TAIL}!4 = !{{i32 1}}\n"
    at = "%4 = inttoptr i32 %0 to ptr addrspace(1)"
    written = meaning(*value, at, place, "%8 = zext i16 %6 to i32", text, "ret void", tail=tail)
    asked = meaning(value[0], at, f"store half %5, ptr addrspace(1) %4, align 2{name}", "ret void", tail=tail)
    other = ", !nontemporal !4" if not name else ""
    assert (
        written == asked != meaning(value[0], at, f"store half %5, ptr addrspace(1) %4, align 2{other}", "ret void", tail=tail)
    )


def test_a_store_in_assembly_with_other_bits_is_itself() -> None:
    text = 'call void asm sideeffect "global_store_b16 $0, $1, off{}", "v,v,~{{memory}}"(ptr %2, i32 %0)'
    plain = "%4 = trunc i32 %0 to i16", "store i16 %4, ptr addrspace(1) %2, align 2", "ret void"
    assert meaning(text.format(" glc"), "ret void") not in (meaning(text.format(""), "ret void"), meaning(*plain))
    assert meaning(text.format(""), "ret void") == meaning(*plain)


def test_what_is_asked_for_in_words_counts_as_the_instruction() -> None:
    def parts(text: str) -> object:
        return read_functions("meaning", f"{HEAD}define void @f() #2 {{\n  {text}\n  ret void\n}}\n{TAIL}")[1]

    by_builtin = parts("tail call void @llvm.amdgcn.s.setprio(i16 2)")
    assert parts('tail call void asm sideeffect "s_setprio 2", "~{memory}"() #2') == by_builtin
    assert parts('tail call void asm sideeffect "s_setprio 3", "~{memory}"() #2') != by_builtin


@pytest.mark.parametrize(("power", "is_same"), [(8, True), (-3, False), (7, False)])
def test_a_power_of_two_by_ldexp_is_a_factor(power: int, is_same: bool) -> None:
    def scaled(*body: str) -> str:
        return meaning("%4 = sitofp i32 %0 to float", *body, "store float %5, ptr %2, align 4", "ret void")

    by_call = scaled(f"%5 = tail call float @llvm.ldexp.f32.i32(float %4, i32 {power})")
    assert (by_call == scaled("%5 = fmul float %4, 2.560000e+02")) is is_same
    assert by_call == scaled(f"%5 = fmul float {2.0**power:e}, %4")
    minus = scaled("%6 = fneg float %4", f"%5 = call float @llvm.ldexp.f32.i32(float %6, i32 {power})")
    assert minus == scaled(f"%6 = fmul float %4, {2.0**power:e}", "%5 = fneg float %6") != by_call


THREAD = "%6 = call i32 @llvm.amdgcn.workitem.id.x()", '%4 = call i32 asm "", "=v,0"(i32 %6)'


@pytest.mark.parametrize(
    ("value", "is_zero"),
    [
        (("%7 = sdiv i32 %4, 1024",), True),
        (("%7 = sdiv i32 %4, 512",), False),
        (("%8 = add i32 %4, 1", "%7 = sdiv i32 %8, 1024"), False),
        (("%8 = shl i32 %4, 4", "%9 = and i32 %8, 4095", "%7 = lshr i32 %9, 12"), True),
        (("%8 = add i32 %4, -1", "%7 = sdiv i32 %8, 4096"), False),
        (("%8 = lshr i32 %0, 31", "%7 = and i32 %8, 1"), False),
    ],
)
def test_bits_that_a_small_number_has_not_are_zero(value: tuple[str, ...], is_zero: bool) -> None:
    def stored(*body: str) -> str:
        return meaning(*body, "%5 = xor i32 %7, 1", STORE, "ret void")

    nothing = stored(*THREAD, "%7 = xor i32 1, 1")
    assert (stored(*THREAD, *value) == nothing) is is_zero


def test_a_small_number_is_one_in_a_small_type() -> None:
    small = "%8 = lshr i32 %4, 8", "%9 = trunc i32 %8 to i16", "%10 = srem i16 %9, 2", "%5 = sext i16 %10 to i32"
    plain = "%8 = freeze i32 %4", "%9 = lshr i32 %8, 8", "%5 = and i32 %9, 1"
    assert meaning(*THREAD, *small, STORE, "ret void") == meaning(*THREAD, *plain, STORE, "ret void")
    large = [each.replace("%4", "%0") for each in small]
    assert meaning(*large, STORE, "ret void") != meaning(*[each.replace("%4", "%0") for each in plain], STORE, "ret void")


@pytest.mark.parametrize(("factor", "is_same"), [(5, True), (4, False)])
def test_a_bit_below_a_multiple_is_added(factor: int, is_same: bool) -> None:
    one, other = (
        meaning(f"%4 = shl i32 %0, {factor}", f"%5 = {op} i32 %4, 16", STORE, "ret void") for op in ("xor", "or disjoint")
    )
    assert (one == other) is is_same


def test_a_choice_is_made_of_what_is_computed_after_it_in_the_text() -> None:
    """An optimiser's blocks, joined into one, may have the choice first."""
    ways = "br i1 %4, label %7, label %8"
    arms = ("7:", "%10 = add i32 %1, 3", "br label %9", "8:", "%11 = add i32 %1, 4", "br label %9")
    split = meaning(CHOICE, ways, *arms, "9:", "%5 = phi i32 [ %10, %7 ], [ %11, %8 ]", STORE, "ret void")
    assert split == meaning(
        CHOICE, "%5 = select i1 %4, i32 %10, i32 %11", "%10 = add i32 %1, 3", "%11 = add i32 %1, 4", STORE, "ret void"
    )


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


def test_a_quotient_of_real_numbers_is_read() -> None:
    thirds, fifths = (
        meaning("%4 = load float, ptr %2", f"%5 = fdiv float %4, {by}", "store float %5, ptr %2", "ret void")
        for by in ("3.0e+00", "5.0e+00")
    )
    assert thirds != fifths


@pytest.mark.parametrize(("kind", "steps"), [
    ("i32", ["mul i32 {0}, 1664525"] * 700),
    ("i32", ["mul i32 {0}, {0}"] * 40),
    ("double", ["fmul double {0}, 1.0e+300", "fmul double {0}, 1.0e+300", "fmul double {0}, 5.0e-01"]),
])  # fmt: skip
def test_products_of_products_end(kind: str, steps: list[str]) -> None:
    def chain(first: str) -> str:
        made = [f"%{at} = {step.format(f'%{at - 1}')}" for at, step in enumerate(steps, 11)]
        return meaning(f"%10 = load {kind}, ptr {first}", *made, f"store {kind} %{10 + len(steps)}, ptr %2", "ret void")

    assert chain("%2") == chain("%2") != chain("null")
