"""A fault is the same at another place and by another name of the type."""

import pytest

from expctl.domain.rules.compile_fault import compile_fault

FAULT = """kernel/hip/{place}: error: no viable overloaded '='
   75 |         b[turn] = load_piece(b_base, b_offset[turn]);
kernel/hip/ring.h:107:10: note: in instantiation of member function 'mm::Refill<mm::Config<1, {config}>>::load' here
kernel/hip/piece.h:9:8: note: candidate function not viable: 'this' argument has type {type}, but method is not marked volatile
"""


@pytest.mark.parametrize("type", ["'volatile Piece'", "'Held' (aka 'volatile scaled_mm::Piece')"])
def test_place_alias_and_config_do_not_count(type: str) -> None:
    first = compile_fault(FAULT.format(place="ring.h:75:17", config="8", type="'volatile Piece'"))
    assert compile_fault(FAULT.format(place="ring.h:91:3", config="2", type=type)) == first
    assert "volatile Piece" in first


def test_another_function_is_another_fault() -> None:
    text = FAULT.format(place="ring.h:75:17", config="8", type="'volatile Piece'")
    assert compile_fault(text) != compile_fault(text.replace("::load'", "::store'"))


def test_an_error_that_says_all_needs_no_place() -> None:
    one = "a.h:1:2: error: '__builtin_x' needs target feature gfx1250-insts\na.h:9:1: note: in instantiation of function 'f'\n"
    other = "b.h:7:2: error: '__builtin_x' needs target feature gfx1250-insts\n"
    assert compile_fault(one) == compile_fault(other) == "'__builtin_x' needs target feature gfx1250-insts"
    assert compile_fault("warning: nothing\n") == ""


def test_nvccs_errors_are_read_too() -> None:
    said = 'kernel/hip/stage.h(17): error: expected a ";"\n    Piece b[2];\n    ^\n\n1 error detected.\n'
    assert compile_fault(said) == 'expected a ";"'
    assert compile_fault(said.replace("error:", "error #65-D:").replace("17", "9")) == 'expected a ";"'
