"""The screening as a table and as CSV: whole outputs."""

import csv
import io

from expctl.screening.screen import Case, compare, counts, environments_of
from expctl.screening.terminal import comparison_csv, comparison_lines

GOLDEN = {
    Case("mm", "M=1"): [100.0, 101.0, 102.0],
    Case("mm", "M=2"): [200.0],
    Case("mm_bf16", "M=1"): [30.0, 40.0],
    Case("mm_bf16", "M=2"): [2.0],
    Case("gone", "M=1"): [40.0],
}
TOT = {
    Case("mm", "M=1"): [110.25],
    Case("mm", "M=2"): [150.0],
    Case("mm_bf16", "M=1"): [30.0],
    Case("mm_bf16", "M=2"): [3.0],
}
ROWS = compare(GOLDEN, TOT)
RULE = (
    "regression iff tot_us > 1.005 golden_us + 0.5 us, improved iff golden_us > 1.005 tot_us + 0.5 us, golden_us < 4 us ignored"
)


def test_the_table() -> None:
    environments = environments_of({"env": "golden", "triton": "3.4.0", "rocm": "7.2.0"}, {"env": "tot", "rocm": "7.2.0"})
    assert comparison_lines(ROWS, counts(ROWS), environments) == [
        RULE,
        "",
        "  environment  golden  tot",
        "* env          golden  tot",
        "* triton       3.4.0   -",
        "  rocm         7.2.0   7.2.0",
        "  * differs: 2 of 3",
        "",
        "status      tot/golden  golden_us   tot_us  delta_us  shape  kernel",
        "regression      1.0916    101.000  110.250    +9.250  M=1    mm",
        "improved        0.7500    200.000  150.000   -50.000  M=2    mm",
        "unstable             -          -   30.000         -  M=1    mm_bf16",
        "    (golden: 2 rows, the closest two are 33.3 % apart; golden: sd 20.2 % of the mean)",
        "missing              -     40.000        -         -  M=1    gone",
        "    (only golden has it)",
        "ignored         1.5000      2.000    3.000    +1.000  M=2    mm_bf16",
        "",
        "1 regression, 1 improved, 0 same, 1 ignored, 1 unstable, 1 missing",
    ]


def test_one_side_of_the_environment_and_nothing_differs() -> None:
    lines = comparison_lines((), counts(()), environments_of(None, {"env": "tot"}))
    assert lines[1:5] == ["", "  environment  golden  tot", "  env          -       tot", "  * differs: 0 of 1"]


def test_packages_that_do_not_differ_are_counted_alone() -> None:
    golden, tot = ({"packages.a": "1", "packages.b": version, "x": "1"} for version in "12")
    lines = comparison_lines((), counts(()), environments_of(golden, tot))
    assert "* packages.b   1       2" in lines
    assert not any("packages.a" in line for line in lines)
    assert "  * differs: 1 of 3; packages that don't differ, not shown: 1" in lines


def test_the_csv() -> None:
    assert comparison_csv(ROWS) == (
        "kernel,shape,golden_us,tot_us,delta_us,ratio,status,golden_rows,tot_rows,golden_sd_us,tot_sd_us,remarks\n"
        "mm,M=1,101.0,110.25,9.25,1.0915841584158417,regression,3,1,1.0,,\n"
        "mm,M=2,200.0,150.0,-50.0,0.75,improved,1,1,,,\n"
        "mm_bf16,M=1,,30.0,,,unstable,2,1,7.0710678118654755,,"
        '"golden: 2 rows, the closest two are 33.3 % apart; golden: sd 20.2 % of the mean"\n'
        "gone,M=1,40.0,,,,missing,1,0,,,only golden has it\n"
        "mm_bf16,M=2,2.0,3.0,1.0,1.5,ignored,1,1,,,\n"
    )


HOSTILE = '\x1b[2J\x1b]0;owned\x07mm\u202e\x9b1A\nnext, "line"'


def test_names_from_a_file_do_not_act_on_a_terminal() -> None:
    case = Case(HOSTILE, HOSTILE)
    rows = compare({case: [10.0]}, {case: [10.0]})
    environments = environments_of({HOSTILE: HOSTILE}, {HOSTILE: HOSTILE})
    lines = comparison_lines(rows, counts(rows), environments)
    assert all(line.isprintable() for line in lines)
    assert '  mm next, "line"  mm next, "line"  mm next, "line"' in lines
    record = list(csv.reader(io.StringIO(comparison_csv(rows))))[1]
    assert record[:2] == ['mm\nnext, "line"'] * 2


def test_a_long_name_is_whole_where_there_is_room_else_cut_in_the_middle() -> None:
    long = "first" + "k" * 80 + "last"
    rows = compare({Case(long, "s"): [10.0], Case("m", "s"): [9.0]}, {Case(long, "s"): [10.0], Case("m", "s"): [9.0]})
    assert comparison_lines(rows, counts(rows), None)[3].endswith(f"  s      {long}")
    lines = comparison_lines(rows, counts(rows), None, 80)[2:]
    assert max(map(len, lines)) == 80
    assert (lines[0].split()[-1], lines[1].split()[-1][:6], lines[1][-5:]) == ("kernel", "firstk", "klast")
    narrow = comparison_lines(rows, counts(rows), None, 60)[2:]
    assert max(map(len, narrow[:3])) <= 60
    assert narrow[3] == "(no room for golden_us, delta_us: a wider terminal, --csv or --json has them)"
