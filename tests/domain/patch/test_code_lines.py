"""Lines as forbidden patterns see them."""

import pytest

from expctl.domain.patch.code_lines import added_lines, code_lines


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a(); // b\nc();", ("a();  ", "c();")),
        ("/* never\n b()\n*/ c();", (" ", "", " c();")),
        ('u = "http://x"; b();', ('u = "http://x"; b();',)),
        (r"c = '\"'; // b", (r"c = '\"';  ",)),
        ('R"x(// " )x"; b(); // c', ('R"x(// " )x"; b();  ',)),
        ("n = 1'000'000; // '", ("n = 1'000'000;  ",)),
        ("a // b \\\n c\nd", ("a  ", "", "d")),
        ("/* open\n b", (" ", "")),
    ],
)
def test_comments_go_and_lines_stay(text: str, expected: tuple[str, ...]) -> None:
    assert code_lines("k.h", text) == expected
    assert len(code_lines("k.txt", text)) == len(expected)


def test_a_line_is_a_comment_by_what_stands_above_it() -> None:
    assert added_lines("k.h", "/*\nvolatile int x;\n*/\nint y;", [1]) == ()
    assert added_lines("k.h", "/*\nvolatile int x;\n*/\nint y;", [0, 1, 2, 3]) == ("int y;",)
    assert added_lines("k.py", "x = 1  # y\n# z\n", [0, 1]) == ("x = 1 ",)


@pytest.mark.parametrize(
    ("lines", "joined"),
    [
        (["volatile", "uint4 held;"], ["volatile uint4 held;"]),
        (["volatile  // why", "", "uint4 held;"], ["volatile uint4 held;"]),
        (["q(cvt_pk_\\", "f16(x));"], ["q(cvt_pk_f16(x));"]),
        (["volatile int a;", "uint4 b;"], []),
        (["#pragma unroll", "uint4 b;"], []),
        (["x = f(", "#define A \\", "  b"], ["#define A   b"]),
    ],
)
def test_a_statement_over_several_added_lines_is_also_one(lines: list[str], joined: list[str]) -> None:
    found = added_lines("k.h", "\n".join(lines), range(len(lines)))
    assert list(found[sum(bool(line.strip()) for line in lines) :]) == joined


def test_what_stood_there_is_not_joined() -> None:
    assert added_lines("k.h", "volatile\nuint4 held;", [0]) == ("volatile",)
    assert added_lines("k.h", "volatile\nint x;\nuint4 held;", [0, 2]) == ("volatile", "uint4 held;")
