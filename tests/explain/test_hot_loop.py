"""Which loop is explained, and what counts as an iteration of it."""

from expctl.explain.hot_loop import hot_loop
from tests.inspection.test_instruction_mix import body

NESTED = body(
    "outer:\nv_add v0\nv_add v0\ninner:\nv_mul v0\ns_cbranch_scc1 inner\ns_cbranch_scc0 outer\n"
    "last:\nv_wmma_f32 v0\ns_cbranch_scc1 last\ns_endpgm"
)


def test_without_a_launch_it_is_the_one_with_matrix_instructions() -> None:
    found = hot_loop(NESTED, None)
    assert (sorted(found.members), found.header, found.is_loop) == ([5, 6], 5, True)


def test_with_a_launch_it_is_the_one_that_executes_most_outside_of_loops_within() -> None:
    inner_most = hot_loop(NESTED, [4, 4, 40, 40, 4, 1, 1, 1])
    assert (sorted(inner_most.members), inner_most.header) == ([2, 3], 2)
    outer_most = hot_loop(NESTED, [40, 40, 41, 41, 40, 1, 1, 1])
    assert (sorted(outer_most.members), outer_most.header) == ([0, 1, 2, 3, 4], 0)


def test_where_no_loop_was_run_it_is_the_whole_kernel() -> None:
    skipped = body("s_cbranch_scc1 end\nloop:\nv_add v0\ns_cbranch_scc1 loop\nend:\ns_endpgm")
    found = hot_loop(skipped, [8, 0, 0, 8])
    assert (sorted(found.members), found.header, found.is_loop) == ([0, 1, 2, 3], 0, False)
    assert not hot_loop(body("v_add v0\ns_endpgm"), None).is_loop


def test_of_two_entries_the_one_that_is_executed_more_counts_iterations() -> None:
    rotated = body("s_cbranch_scc1 middle\nhead:\nv_add v0\nmiddle:\nv_mul v0\ns_cbranch_scc0 head\ns_endpgm")
    assert hot_loop(rotated, [1, 6, 7, 7, 1]).header == 2
    assert hot_loop(rotated, [1, 7, 7, 7, 1]).header == 1
