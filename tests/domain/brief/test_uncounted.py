"""What the brief says of a hot loop that can't be counted here: lines of KEEPs, loops, the last profile."""

from expctl.domain.brief.uncounted import Loop, config_line, files_of, loops_of, standing_lines, uncounted_lines
from expctl.domain.experiment.bucket_verdict import BucketVerdict
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.experiment.record import Fact

SOURCE = """void multiply(int n) {
  for (int k = 0; k < n; ++k) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      sums[i] += a[i] * b[k];
  }
  for (int i = 0; i < 4; ++i) store(i);
}
"""
PATCH = b"""diff --git a/src/k.c b/src/k.c
--- a/src/k.c
+++ b/src/k.c
@@ -3,2 +3,3 @@
 #pragma unroll
-    for (int i = 0; i < 2; ++i)
+    for (int i = 0; i < 4; ++i)
+      sums[i] += a[i] * b[k];
"""
GONE = b"--- a/src/k.c\n+++ b/src/k.c\n@@ -1 +1 @@\n-x\n+  sums[i] -= what_was_taken_back[k];\n"


def test_lines_of_keeps_are_those_that_still_stand() -> None:
    patches = {"P2": PATCH, "P10": GONE, "P9": PATCH}
    assert files_of(patches.values()) == ("src/k.c",)
    (found,) = standing_lines(patches, {"src/k.c": SOURCE})
    assert (found.file, found.lines, found.by) == ("src/k.c", (4, 5), ("P2", "P9"))


def test_a_loop_ends_where_the_indentation_does() -> None:
    assert loops_of(SOURCE) == (Loop(first=2, last=5, head="for (int k = 0; k < n; ++k) {"),)
    assert loops_of("for i in x:\n    a()\n\n    b()\nc()\n") == (Loop(first=1, last=4, head="for i in x:"),)
    (loop,) = loops_of("for i in x:\n    Wgmma<64>::add(i)\nc()\n")
    assert loop.multiplies
    assert loops_of("") == ()


def test_the_brief_names_file_lines_and_figures() -> None:
    facts = [Fact(name="launches", value=3, unit="launches"), Fact(name="k time", value=95.355, unit="us")]
    worked = standing_lines({"P2": PATCH}, {"src/k.c": SOURCE})
    lines = list(uncounted_lines("gpu", worked, loops_of(SOURCE), "P2", facts))
    assert "src/k.c lines 4 to 5 (by P2)" in lines[0]
    assert "2 to 5 `for (int k = 0; k < n; ++k) {`" in lines[1]
    assert lines[2] == "gpu: Profile of P2, as it was kept: k time 95.355 us."
    assert list(uncounted_lines("gpu", (), (), "", ())) == []


def bucket(shape: str, config: str, verdict: Verdict = Verdict.KEEP) -> BucketVerdict:
    return BucketVerdict(file="DEFAULT.json", bucket="M_LEQ_16", shapes=(shape,), config=config, verdict=verdict)


def test_the_brief_names_the_config_of_each_size_as_later_tunings_left_it() -> None:
    notes = ("3 rounds", "config of the baseline 16x8x8: 1,1; 32x8x8: 2,2; config of the candidate 16x8x8: 3,3; 32x8x8: 2,2")
    tunings = {"P3": [bucket("32x8x8", "4,4"), bucket("64x8x8", "5,5"), bucket("16x8x8", "6,6", Verdict.REJECT)]}
    assert config_line("gpu", "P2", notes, {}) == "gpu: Config, as P2 was timed: 16x8x8: 3,3; 32x8x8: 2,2."
    assert (
        config_line("gpu", "P2", notes, tunings)
        == "gpu: Config, as P2 was timed: 16x8x8: 3,3; 32x8x8: 4,4 since P3, before 2,2."
    )
    assert config_line("gpu", "P2", ("config 1,8,2",), tunings) == "gpu: Config, as P2 was timed: all sizes: 1,8,2."
    assert config_line("gpu", "P2", ("3 rounds",), tunings) == ""
