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
