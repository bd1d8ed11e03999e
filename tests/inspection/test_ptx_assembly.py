"""Inline PTX in LLVM IR is known by what its instructions do, however it is written."""

import pytest

from expctl.inspection.readers.compiled_functions import read_functions

HEAD = '; ModuleID\ntarget triple = "nvptx64-nvidia-cuda"\n'
LAST = "ret void"


def meaning(*body: str) -> str:
    lines = "\n".join(f"  {line}" for line in (*body, LAST))
    functions, _ = read_functions("meaning", f"{HEAD}define void @f(i32 %0, i32 %1, ptr %2, i64 %3) #2 {{\n{lines}\n}}\n")
    return functions["f"]


def written(text: str, constraints: str, given: str, kind: str = "void", how: str = "sideeffect ") -> str:
    return f'call {kind} asm {how}"{text}", "{constraints}"({given}) #4, !srcloc !8'


def wait(text: str, constraints: str, given: str) -> str:
    return meaning(f"%5 = {written(text, constraints, given, 'i32')}", "store i32 %5, ptr %2, align 4")


TRY = r"{\0A.reg .pred done;\0Ambarrier.try_wait.b64 done, [$1], $2, $3;\0Aselp.u32 $0, 1, 0, done;\0A}"
WAITED = wait(TRY, "=r,r,r,r,~{memory}", "i32 %0, i32 %1, i32 4096")


@pytest.mark.parametrize(
    ("text", "constraints", "given", "is_same"),
    [
        (TRY.replace("done", "p"), "=r,r,r,n,~{memory}", "i32 %0, i32 %1, i32 4096", True),
        (TRY.replace("$3", "010000"), "=r,r,r,~{memory}", "i32 %0, i32 %1", True),
        (TRY.replace(" done, [", "  done,[").replace(r"\0Aselp", " // on\\0A\\09selp"), "=r,r,r,r,~{memory}", "", True),
        (TRY.replace(".pred done;", ".pred other, done, more;"), "=r,r,r,r,~{memory}", "", True),
        (TRY.replace("[$1], $2, $3", "[$3], $1, ${2}"), "=r,r,r,r,~{memory}", "i32 %1, i32 4096, i32 %0", True),
        (TRY, "=r,r,r,r,~{memory}", "i32 %1, i32 %0, i32 4096", False),
        (TRY, "=r,r,r,r,~{memory}", "i32 %0, i32 %1, i32 4095", False),
        (TRY.replace("$3", "10000"), "=r,r,r,~{memory}", "i32 %0, i32 %1", False),
        (TRY, "=r,r,r,r", "", False),
        (TRY, "=&r,r,r,r,~{memory}", "", False),
        (TRY.replace("try_wait", "test_wait"), "=r,r,r,r,~{memory}", "", False),
        (TRY.replace("1, 0, done", "0, 1, done"), "=r,r,r,r,~{memory}", "", False),
        (TRY.replace("selp.u32", "@done selp.u32"), "=r,r,r,r,~{memory}", "", False),
        (TRY.replace("[$1]", "[$1+8]"), "=r,r,r,r,~{memory}", "", False),
    ],
)  # fmt: skip
def test_operands_are_known_by_their_places(text: str, constraints: str, given: str, is_same: bool) -> None:
    assert (wait(text, constraints, given or "i32 %0, i32 %1, i32 4096") == WAITED) is is_same


FENCE, SYNC = written("fence.proxy.async;", "~{memory}", ""), written("bar.sync $0, 128;", "r,~{memory}", "i32 %0")


@pytest.mark.parametrize(
    ("text", "is_same"),
    [
        (r"fence.proxy.async;\0Abar.sync $0, 128;", True),
        (r"{ fence.proxy.async; } barrier.cta.sync.aligned $0, 0x80;", True),
        (r"bar.sync $0, 128;\0Afence.proxy.async;", False),
        (r"fence.proxy.async;\0Abarrier.sync $0, 128;", False),
        (r"fence.proxy.async;\0Abar.arrive $0, 128;", False),
        (r"fence.proxy.async;\0A@$0 bar.sync $0, 128;", False),
        (r"fence.proxy.async;\0Afence.proxy.async;\0Abar.sync $0, 128;", False),
    ],
)
def test_one_statement_may_be_several(text: str, is_same: bool) -> None:
    assert (meaning(FENCE, SYNC) == meaning(written(text, "r,~{memory}", "i32 %0"))) is is_same


def test_effects_keep_their_order_and_number() -> None:
    assert len({meaning(FENCE, SYNC), meaning(SYNC, FENCE), meaning(FENCE), meaning(FENCE, FENCE), meaning(SYNC)}) == 5
    assert meaning(FENCE) != meaning(written("fence.proxy.async;", "", ""))


def converted(text: str, given: str, *before: str, constraint: str = "r", how: str = "") -> str:
    asked = f"%9 = {written(text, f'=r,{constraint}', given, 'i32', how)}"
    return meaning(*before, asked, "store i32 %9, ptr %2, align 4")


def test_a_half_of_a_register_is_a_number_of_fewer_bits() -> None:
    halves = r"{\0A.reg .b16 x, y;\0Amov.b32 {x, y}, $1;\0Acvt.rn.f16x2.e4m3x2 $0, %s;\0A}"
    by_shift = ("%6 = lshr i32 %0, 16", "%7 = trunc nuw i32 %6 to i16")
    high = converted("cvt.rn.f16x2.e4m3x2 $0, $1;", "i16 %7", *by_shift, constraint="h")
    low = converted("cvt.rn.f16x2.e4m3x2 $0, $1;", "i16 %7", "%7 = trunc i32 %0 to i16", constraint="h")
    assert high == converted(halves % "y", "i32 %0") != low == converted(halves % "x", "i32 %0")
    assert high != converted(halves.replace("e4m3", "e5m2") % "y", "i32 %0")
    joined = r"{\0A.reg .b16 x, y;\0Amov.b32 {x, y}, $1;\0Amov.b32 $0, {%s};\0A}"
    assert converted(joined % "y, x", "i32 %0") != converted(joined % "x, y", "i32 %0")


def test_assembly_without_effect_is_a_value() -> None:
    first = f"%6 = {written('cvt.rn.f16x2.e4m3x2 $0, $1;', '=r,h', 'i16 7', 'i32', '')}"
    then = "%7 = add i32 %6, %0"
    assert meaning(first, FENCE, then, "store i32 %7, ptr %2") == meaning(FENCE, first, then, "store i32 %7, ptr %2")
    held = first.replace("asm ", "asm sideeffect ")
    assert meaning(held, FENCE, then, "store i32 %7, ptr %2") != meaning(FENCE, held, then, "store i32 %7, ptr %2")
    assert meaning(held) != meaning()


@pytest.mark.parametrize(("text", "constraints", "given", "is_same"), [
    ("ldmatrix.x2 {$0, $1}, [$2];", "=r,=r,r", "i32 %0", True),
    ("ldmatrix.x2 {$1, $0}, [$2];", "=r,=r,r", "i32 %0", False),
    ("ldmatrix.x2.trans {$0, $1}, [$2];", "=r,=r,r", "i32 %0", False),
    ("ldmatrix.x2 {$0, $1}, [$2];", "=r,=r,r", "i32 %1", False),
])  # fmt: skip
def test_each_output_is_its_own(text: str, constraints: str, given: str, is_same: bool) -> None:
    def two(text: str, constraints: str, given: str, one: int = 0) -> str:
        asked = written(text, constraints, given, "{ i32, i32 }")
        outputs = [f"%{7 + at} = extractvalue {{ i32, i32 }} %6, {at ^ one}" for at in range(2)]
        return meaning(f"%6 = {asked}", *outputs, "%10 = sub i32 %7, %8", "store i32 %10, ptr %2")

    plain = two("ldmatrix.x2 {$0, $1}, [$2];", "=r,=r,r", "i32 %0")
    assert (two(text, constraints, given) == plain) is is_same
    assert two("ldmatrix.x2 {$1, $0}, [$2];", "=r,=r,r", "i32 %0", 1) == plain


def test_what_is_added_to_counts() -> None:
    mma = f"%6 = {written('mma.f32 $0, $1, $2, $0;', '=f,r,r,0', 'i32 %0, i32 %1, float {}', 'float')}"
    kept = "store float %6, ptr %2"
    by_number = f"%6 = {written('mma.f32 $0, $2, $1, $3;', '=f,r,r,f', 'i32 %1, i32 %0, float 1.0', 'float')}"
    assert meaning(mma.format(1.0), kept) == meaning(by_number, kept) != meaning(mma.format(2.0), kept)


def test_what_a_barrier_gives_is_known_by_the_barrier() -> None:
    reduced = r"{\0A.reg .pred p, q, r;\0Asetp.ne.s32 r, $1, 0;\0A%s\0Aselp.u32 $0, 1, 0, %s;\0A}"
    both = "bar.red.and.pred p, 0, r; bar.red.or.pred q, 0, r;"
    assert len({converted(reduced % (both, each), "i32 %0", how="sideeffect ") for each in ("p", "q", "r")}) == 3
    swapped = "bar.red.and.pred x, 0, r; bar.red.or.pred p, 0, r;"
    renamed = (reduced % (swapped, "x")).replace("p, q", "x, p")
    assert converted(renamed, "i32 %0", how="sideeffect ") == converted(reduced % (both, "p"), "i32 %0", how="sideeffect ")


def test_what_cannot_be_read_stays_as_it_is() -> None:
    texts = [r"{ AGAIN: bra AGAIN; }", ".pragma \\22nounroll\\22;", "trap", "bar.sync $0, $1; bar.sync ${0:x}, $1;"]
    for text in texts:
        asked = written(text, "r,r", "i32 %0, i32 %1")
        assert meaning(asked) == meaning(asked) != meaning(written(text, "r,r", "i32 %1, i32 %0"))
        assert meaning(asked) != meaning()


@pytest.mark.parametrize(("one", "other", "is_same"), [
    ("%8 = select i1 %6, i1 %7, i1 false", "%8 = and i1 %7, %6", True),
    ("%8 = select i1 %6, i1 true, i1 %7", "%8 = or i1 %7, %6", True),
    ("%8 = select i1 %6, i1 false, i1 %7", "%9 = xor i1 %6, true\n  %8 = and i1 %7, %9", True),
    ("%8 = select i1 %6, i1 %7, i1 true", "%9 = xor i1 %6, true\n  %8 = or i1 %7, %9", True),
    ("%9 = or i1 %6, %7\n  %8 = xor i1 %9, true", "%9 = xor i1 %6, true\n  %8 = select i1 %7, i1 false, i1 %9", True),
    ("%8 = and i1 %7, %6", "%8 = or i1 %7, %6", False),
    ("%8 = select i1 %6, i1 %7, i1 false", "%8 = select i1 %6, i1 false, i1 %7", False),
    ("%8 = select i1 %6, i1 %7, i1 true", "%8 = select i1 %6, i1 true, i1 %7", False),
])  # fmt: skip
def test_conditions_that_hold_together(one: str, other: str, is_same: bool) -> None:
    def stored(made: str) -> str:
        tests = "%6 = icmp sgt i32 %0, 3", "%7 = icmp slt i32 %1, 5"
        return meaning(*tests, made, "%10 = zext i1 %8 to i32", "store i32 %10, ptr %2")

    assert (stored(one) == stored(other)) is is_same


@pytest.mark.parametrize(("text", "constraints", "given"), [
    ("sub.u32 $0, $1, $2;", "=r,0,r", ("i32 %0, i32 %1", "i32 7, i32 %1")),
    ("{ .reg .pred p; setp.ne.s32 p, $1, $3; mov.b32 $0, $2; @p mov.b32 $0, $1; }", "=r,r,r,r",
     ("i32 %0, i32 %1, i32 7", "i32 %0, i32 %1, i32 8")),
    ("{ .reg .u32 x; add.cc.u32 x, $1, $2; addc.u32 $0, $1, 0; }", "=r,r,r", ("i32 %0, i32 %1", "i32 %0, i32 7")),
    ("st.shared.u32 [$1], $2; ld.shared.u32 $0, [$1];", "=r,r,r", ("i32 %0, i32 %1", "i32 %0, i32 7")),
])  # fmt: skip
def test_all_that_it_takes_counts(text: str, constraints: str, given: tuple[str, str]) -> None:
    one, other = (meaning(f"%9 = {written(text, constraints, each, 'i32', '')}", "store i32 %9, ptr %2") for each in given)
    assert one != other


def test_a_sum_over_a_barrier_is_what_it_sets() -> None:
    asked = "{{ .reg .pred p; .reg .u32 x; setp.ne.u32 p, $1, 0; mov.u32 $0, 7; mov.u32 x, 7; bar.red.popc.u32 {}, 0, p; }}"
    assert len({converted(asked.format(each), "i32 %0", how="sideeffect ") for each in ("$0", "x")}) == 2


def test_assembly_that_uses_memory_keeps_its_place() -> None:
    asked = f"%9 = {written('{ AGAIN: bra AGAIN; } // $0 $1', '=r,r,~{memory}', 'i32 %0', 'i32', '')}"
    store, last = "store i32 %0, ptr %2", "store i32 %9, ptr %2"
    assert meaning(asked, store, last) != meaning(store, asked, last)


def test_an_output_that_nothing_sets_is_no_error() -> None:
    asked = written("@$1 mov.u32 $0, $2;", "=r,=r,r", "i32 %0", "{ i32, i32 }", "")
    assert meaning(f"%9 = {asked}", "%10 = extractvalue { i32, i32 } %9, 0", "store i32 %10, ptr %2")
