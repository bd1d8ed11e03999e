"""What the interpreter read has to be what the assembler makes, whatever inline assembly puts into the text."""

from __future__ import annotations

import pytest

from expctl.gfx11.text.errors import Unsupported
from kernel.harness.assembly_check import first_difference

NAME = "scaled_mm_e5m2_2_2_2_2_2_2"
ENTRIES = [NAME, NAME.replace("e5m2", "e4m3fn")]


def with_first_barrier(assembly: str, text: str) -> str:
    at = assembly.index("\ts_barrier", assembly.index(f"{NAME}:"))
    return assembly[:at] + text + assembly[at + len("\ts_barrier") :]


def test_the_kernel_as_clang_wrote_it(small: str) -> None:
    assert first_difference(small, ENTRIES) == ""


def test_a_barrier_in_a_comment_of_the_assemblers(small: str) -> None:
    text = "\t.set nothing, 1 /*\n\ts_barrier\n\t.set nothing, 2 */"
    assert "is not what its text says" in first_difference(with_first_barrier(small, text), ENTRIES)


def test_a_macro_that_takes_the_place_of_an_instruction(small: str) -> None:
    macro = "\t.macro s_barrier\n\ts_nop 0\n\t.endm\n"
    at = small.index("\t.text")
    assert "the code of" in first_difference(small[:at] + macro + small[at:], ENTRIES)


@pytest.mark.parametrize(
    "text",
    [
        "here: s_barrier",
        "\ts_nop 0 /*\n\ts_barrier\n\ts_nop */",
        "\ts_nop 0 // s_barrier",
        "\t.p2align 2 /*\n\ts_barrier\n\t.loc */",
        "\t.p2align 8, 0xbf\n\ts_barrier",
    ],
)
def test_what_is_not_read_literally_is_refused(small: str, text: str) -> None:
    with pytest.raises(Unsupported):
        first_difference(with_first_barrier(small, text), ENTRIES)


def test_another_descriptor_than_the_one_that_was_read(small: str) -> None:
    at = small.index(f"\t.amdhsa_kernel {NAME}")
    own = small[at : small.index("\t.end_amdhsa_kernel", at)] + "\t.end_amdhsa_kernel\n"
    fake = "/*\n" + own.replace("next_free_vgpr", "next_free_vgpr 255 ;", 1) + "*/\n"
    assert "the descriptor of" in first_difference(small[:at] + fake + small[at:], ENTRIES)
