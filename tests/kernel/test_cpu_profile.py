"""What the CPU's profile reads out of a disassembly, an assembly, perf and callgrind."""

import pytest

from kernel.harness.hot_loop import hottest, parse_assembly, parse_listing
from kernel.harness.instruction_count import CannotCount, perf_figures, simulated_figures

LISTING = """
0000000000001000 <other>:
    1000:\tret
0000000000001010 <multiply>:
    1010:\tvmovups %zmm3,0x40(%rsp)
    1018:\tcall   1000 <other>
    101c:\tvmovups (%rsp),%zmm1
    1020:\tvfmadd231ps (%rsi),%zmm1,%zmm2
    1028:\tjne    101c <multiply+0xc>
    102c:\tvmovups 0x40(%rsp),%zmm3
    1030:\tret
"""
ASSEMBLY = """
\t.file\t1 "/src" "kernel/a.h"
multiply:
\t.loc\t1 7 3
.LBB0_1:
\t.loc\t1 40 5 is_stmt 1   # kernel/a.h:40:5 @[ kernel/b.h:9:2 ]
\tvfmadd231ps\t(%rsi), %zmm1, %zmm2
\tjne\t.LBB0_1
"""


def test_spills_and_calls_are_counted_around_the_loop_too() -> None:
    loop = hottest(list(parse_listing(LISTING)))
    assert loop is not None
    assert (loop.instructions, loop.spills, loop.function_spills, loop.function_calls) == (3, 1, 2, 1)


def test_the_lines_of_the_loop_and_of_the_call_it_was_inlined_into() -> None:
    loop = hottest(list(parse_assembly(ASSEMBLY)))
    assert loop is not None
    assert loop.places == (("/src/kernel/a.h", 40), ("kernel/b.h", 9))


def test_what_perf_counted_is_read_and_what_it_guessed_is_not() -> None:
    text = "1000,,instructions:u,500,100.00,,\n400,,cycles:u,500,100.00,,\n9,,cache-misses:u,10,40.00,,\n"
    assert perf_figures(text) == {"instructions": 1000, "cycles": 400}
    with pytest.raises(CannotCount):
        perf_figures("<not supported>,,instructions:u,0,100.00,,\n")


def test_what_callgrind_counted_is_read() -> None:
    said = "==1== Collected : 1234 5 6\n==1== D1  misses:   1,002 (x)\n==1== LLd misses:  7 (x)\n"
    assert simulated_figures(said) == {"instructions": 1234, "L1 data cache misses": 1002, "last-level cache misses": 7}
