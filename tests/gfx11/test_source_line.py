from expctl.gfx11.text.source_line import source_line

TEXT = """\
other:
\t.loc\t1 3 7                          ; src/other.h:3:7
\ts_nop 0
kernel:
\ts_nop 0
\t.loc\t2 41 5 prologue_end              ; a/put.h:41:5 @[ a/ring.h:93:7 @[ a/ring.h:113:2 @[ a/kernel.hip:9:1 ] ] ]
\tds_store_b128 v1, v[2:5]               ; this is no place: 1:2:3
.Ltmp1:
\ts_barrier
\t.loc\t2 0 5 is_stmt 0                  ; a/put.h:0:5 @[ a/ring.h:115:3 ]
\ts_nop 1
"""


def test_a_line_is_named_by_its_statement_and_where_that_was_inlined() -> None:
    lines = TEXT.splitlines()
    for code in ("\tds_store_b128 v1, v[2:5]               ; this is no place: 1:2:3", "\ts_barrier"):
        assert source_line(TEXT, lines.index(code) + 1) == "put.h:41 in ring.h:93 in ring.h:113"


def test_what_the_compiler_made_up_is_named_by_what_is_around_it() -> None:
    assert source_line(TEXT, TEXT.splitlines().index("\ts_nop 1") + 1) == "ring.h:115"


def test_a_function_without_a_line_table_has_no_origin() -> None:
    assert source_line(TEXT, TEXT.splitlines().index("kernel:") + 2) == ""
    assert source_line("kernel:\n\ts_nop 0\n", 2) == ""
