"""Functions of PTX: what a kernel is called, and how registers and labels are numbered, makes no other function of it."""

from expctl.inspection.readers.compiled_functions import read_functions

HEAD = "//\n.version 9.0\n.target sm_90a\n"


def kernel(name: str, *body: str) -> str:
    """A kernel with two parameters and shared memory of its own, in the body as `PARAM` and `SLICES`."""
    lines = "\n".join(f"\t{line}" if not line.endswith(":") else line for line in body)
    text = f".visible .entry {name}(\n\t.param .u64 PARAM_0,\n\t.param .u32 PARAM_1\n)\n{{\n{lines}\n}}\n"
    return text.replace("PARAM", f"{name}_param").replace("SLICES", f"_ZZ{len(name)}{name}PKtiE6slices")


def hashes(*kernels: str) -> dict[str, str]:
    return dict(read_functions("meaning", HEAD + "".join(kernels))[0])


BODY = (
    ".reg .b32 %r<9>;",
    "ld.param.u32 \t%r3, [PARAM_1];",
    "mov.u32 \t%r4, SLICES;",
    "$L__BB0_7:",
    "add.s32 \t%r3, %r4, %r3;",
    "bra.uni \t$L__BB0_7;",
)


def test_its_name_is_not_what_a_kernel_does() -> None:
    one, other = hashes(kernel("scaled_1_8", *BODY)), hashes(kernel("scaled_1_0x8", *BODY))
    assert (list(one), list(other)) == (["scaled_1_8"], ["scaled_1_0x8"])
    assert one["scaled_1_8"] == other["scaled_1_0x8"]


def test_a_name_that_begins_like_its_own_is_another() -> None:
    assert hashes(kernel("f", "call f8;"))["f"] != hashes(kernel("g", "call g8;"))["g"]
    assert hashes(kernel("f", "call f;"))["f"] == hashes(kernel("g", "call g;"))["g"]


def test_numbers_of_registers_and_labels_are_those_of_their_order() -> None:
    numbered = [line.replace("%r3", "%r11").replace("%r4", "%r2").replace("BB0_7", "BB1_3") for line in BODY]
    assert hashes(kernel("f", *BODY)) == hashes(kernel("f", *numbered))
    before = hashes(kernel("other", "ret;"), kernel("f", *numbered))
    assert before["f"] == hashes(kernel("f", *BODY))["f"]


def test_another_register_is_another_function() -> None:
    swapped = [line.replace("%r4, %r3;", "%r4, %r4;") for line in BODY]
    special = [line.replace("SLICES", "%tid.x") for line in BODY]
    assert len({hashes(kernel("f", *body))["f"] for body in (BODY, swapped, special)}) == 3


def test_what_a_block_takes_is_part_of_it() -> None:
    body = (".maxntid 256, 1, 1", ".minnctapersm 1", ".shared .align 16 .b8 SLICES[16512];", "ret;")
    one = hashes(kernel("f", *body))
    for line in (".minnctapersm 2", ".maxnreg 64", ".shared .align 16 .b8 SLICES[24576];"):
        kept = [each for each in body if each.split()[0] != line.split()[0]]
        assert hashes(kernel("f", *kept, line)) != one
    assert hashes(kernel("f", "// a comment", *body)) == one
    assert hashes(kernel("g8", *body))["g8"] == one["f"]


def test_instructions_are_counted_by_their_kind_and_constants() -> None:
    _, parts = read_functions(
        "meaning", HEAD + kernel("f", "add.s32 \t%r2, %r1, 3;", "add.s32 \t%r4, %r2, 3;", "bra \t$L__BB0_7;")
    )
    assert (parts["f"]["add.s32 \t%r, %r, 3;"], parts["f"]["bra \t$L;"]) == (2, 1)


def stored(*body: str) -> str:
    """The hash of a function that stores %r9."""
    return hashes(
        kernel("f", "ld.param.u64 \t%rd1, [PARAM_0];", "ld.param.u32 \t%r1, [PARAM_1];", *body, "st.global.u32 \t[%rd1], %r9;")
    )["f"]


def test_the_order_and_spelling_of_sums_is_not_what_a_kernel_does() -> None:
    one = stored(
        "mov.u32 \t%r2, %tid.x;", "add.s32 \t%r3, %r1, %r2;", "shl.b32 \t%r4, %r1, 1;", "mad.lo.s32 \t%r9, %r3, 2, %r4;"
    )
    other = stored(
        *("mul.lo.s32 \t%r4, %r1, 4;", "mov.u32 \t%r2, %tid.x;", "mul.lo.s32 \t%r3, %r2, 2;", "add.s32 \t%r9, %r3, %r4;"),
    )
    less = stored("mov.u32 \t%r2, %tid.x;", "mul.lo.s32 \t%r4, %r1, 4;", "add.s32 \t%r9, %r2, %r4;")
    assert one == other != less


def test_a_negated_comparison_with_its_ways_swapped_is_the_same() -> None:
    def jumps(how: str, sign: str) -> str:
        return stored(
            "mov.u32 \t%r9, 1;",
            f"setp.{how}.s32 \t%p1, %r1, 4;",
            f"@{sign}%p1 bra \t$L__BB0_2;",
            "mov.u32 \t%r9, 2;",
            "$L__BB0_2:",
        )

    assert jumps("lt", "") == jumps("ge", "!")
    assert jumps("lt", "") != jumps("ge", "")


def test_effects_and_loads_keep_their_order() -> None:
    store, load, barrier = "st.shared.u32 \t[%r1], 5;", "ld.shared.u32 \t%r9, [%r1];", "bar.sync \t0;"
    assert (
        len({stored(*lines) for lines in ((store, load), (load, store), (store, barrier, load), (barrier, store, load))}) == 4
    )
    address = "add.s32 \t%r2, %r1, 8;"
    assert stored(address, "ld.shared.u32 \t%r9, [%r2+4];") == stored("ld.shared.u32 \t%r9, [%r1+12];")


def test_a_register_that_is_set_twice_is_known_by_what_it_is_set_to() -> None:
    def loop(step: int, *, number: int = 3) -> str:
        turns = f"add.s32 \t%r{number}, %r{number}, {step};"
        return stored(
            f"mov.u32 \t%r{number}, 0;",
            "$L__BB0_1:",
            turns,
            f"setp.lt.s32 \t%p1, %r{number}, %r1;",
            "@%p1 bra \t$L__BB0_1;",
            f"mov.u32 \t%r9, %r{number};",
        )

    assert loop(1) == loop(1, number=6)
    assert loop(1) != loop(2)


def test_inline_assembly_is_one_effect() -> None:
    def assembly(text: str, *before: str) -> str:
        return stored(*before, "// begin inline asm", text, "// end inline asm", "mov.u32 \t%r9, %r4;")

    assert assembly("ldx %r4, [%r1];") != assembly("ldx %r4, [%r1+4];")
    assert assembly("{ mul.f16x2 %r4,%r1,%r1; }") == stored("mul.f16x2 \t%r9, %r1, %r1;")
    assert assembly("ldx %r4, [%r1];", "bar.sync \t0;") != assembly("ldx %r4, [%r1];")


def test_what_a_variable_holds_counts() -> None:
    table = ".const .align 4 .b8 table[8] = {1, 0, 0, 0, 2};\n.extern .shared .align 128 .b8 tiles[];\n"
    one = kernel("f", "ld.const.u32 \t%r1, [table];", "mov.u32 \t%r2, tiles;")
    plain = hashes(table, one, kernel("g", "ret;"))
    for other in (table.replace("2}", "3}"), table.replace("128", "16")):
        found = hashes(other, one, kernel("g", "ret;"))
        assert (found["f"] == plain["f"], found["g"] == plain["g"]) == (False, True)


def test_what_a_table_of_machine_code_holds_counts() -> None:
    lines = ".type\tf,@function", "movl\ttable(%rip), %eax", "retq", ".type\ttable,@object\ntable:", ".long\t1 # 0x1"
    text = "".join(f"\t{each}\n" for each in lines).replace("\t\n", "\n")
    assert len({read_functions("code", each)[0]["f"] for each in (text, text.replace("1 # 0x1", "2"))}) == 2
